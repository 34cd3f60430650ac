"""Do two steps of each objective on the pretended device.

LD_PRELOAD=LIBRARY python tests/gpu/trace_pretraining.py --cases CASE ...

Prints a JSON object, case -> {"outcome": "done" or the error, "step": waits and copies of the second step,
"methods": those that the engine chose}.
"""

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import Distillation, PretrainingRecipe
from tests.gpu.pretended_cuda import Watch, pretend
from tests.unit.pretraining.toy_objectives import DISTILLED, save_teacher
from tests.unit.pretraining.toy_objectives import RECIPES as TOY
from tests.unit.pretraining.toy_pretraining import changed, make_data


def pretend_to_compile(function: Any = None, **settings: Any) -> Any:
    return pretend_to_compile if function is None else function


RECIPES = {name: recipe for name, recipe in TOY.items() if name not in ("causal", "both")} | {
    "ModernBERT": changed(TOY["ModernBERT"], optimisation={"optimiser": "adamw"}),
    "distillation": DISTILLED,
    "float16": changed(precision="float16"),
    "distillation everywhere": changed(DISTILLED, objective={"distillation": Distillation(positions="all")}),
}
"""Without those whose steps wait oftener: causal ones, and updates by stable-adamw."""


def watched(recipe: PretrainingRecipe, data: Path, teacher: Path) -> dict[str, Any]:
    """Waits of the host and copies in the second update."""
    packed = PackedTokens(data / "tokens")
    world = World(torch.device("cuda", 0))
    given = teacher if recipe.objective.distillation else None
    work = Pretraining(recipe, packed, read_vocabulary(data, packed.special), world, teacher=given)
    work.update(0)
    with Watch() as step:
        work.update(1)
    strays = {weight.device.type for weight in work.learner.parameters()} - {"cuda"}
    assert not strays, f"weights on {strays}"
    return {"outcome": "done", "step": step.found(), "methods": asdict(work.computation.methods)}


def outcome(recipe: PretrainingRecipe, data: Path, teacher: Path) -> dict[str, Any]:
    try:
        return watched(recipe, data, teacher)
    except Exception as error:
        return {"outcome": f"{type(error).__name__}: {error}"}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = make_data(Path(folder))
        teacher = save_teacher(Path(folder) / "teacher")
        with pretend():
            torch.compile = pretend_to_compile  # type: ignore[assignment]
            found = {name: outcome(RECIPES[name], data, teacher) for name in sys.argv[2:]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
