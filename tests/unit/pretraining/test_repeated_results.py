"""The same recipe gives the same training from one version of pubmill to the next.

A change of these numbers changes every model that is pretrained: raise the stage's version then
(`Pretrain`, `Finetune`, `TrainVocab`). Batches are compared exactly; losses, which other processors round
differently, to four digits.

Seen on an AMD EPYC with AVX-512, with 1 thread and the kernels that `ATEN_CPU_CAPABILITY` (default, avx2,
avx512) and `ONEDNN_MAX_CPU_ISA=AVX2` choose.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubmill.pretraining.instances import Instances, Stream
from pubmill.pretraining.masking import Draws, mask, masking_rate
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import Distillation, PretrainingRecipe
from tests.unit.pretraining.test_instances import packed
from tests.unit.pretraining.test_masking import VOCABULARY
from tests.unit.pretraining.toy_objectives import RECIPES, save_teacher
from tests.unit.pretraining.toy_pretraining import begun, changed

LONG = {"max_positions": 128}
DISTILLATION = changed(objective={"distillation": Distillation()})
BATCHES: list[tuple[str, dict[str, Any]]] = [
    ("a7a11285cd3c5ff0", {"pairs": "next-sentence", "masking": "whole-word"}),
    ("ba1de2ff3921b648", {"pairs": "sentence-order", "masking": "n-gram", "final_masking_rate": 0.4}),
    ("11a003065deec437", {"pairs": "unlabelled", "masking": "subword"}),
    ("8d9f104381f347f2", {"pairs": "none", "masking": "independent"}),
    ("096c0509057de37f", {"pairs": "none", "masking": "whole-word", "replaced_by_mask": 0.5}),
    ("ff01200036800f7d", {"pairs": "none", "sequences": "full", "masking": "n-gram", "longest_ngram": 2}),
]


def corpus() -> Any:
    """Documents of 1 to 9 sentences with ids of a vocabulary of 105."""
    random = np.random.Generator(np.random.PCG64(7))
    made = packed([random.integers(1, 40, size=size % 9 + 1).tolist() for size in range(60)])
    made.ids = random.integers(5, 105, size=len(made.ids))
    return made


@pytest.mark.parametrize(("expected", "objective"), BATCHES)
def test_batches(expected: str, objective: dict[str, Any]) -> None:
    recipe = changed(
        objective=objective, sequence_length=64, batch_size=50, steps=40, seed=3, architecture=LONG
    )
    instances, found = Instances(corpus(), recipe), hashlib.sha256()
    assert 50 < len(instances) < 150
    for step in range(3):
        batch = instances.batch(step)
        rate, draws = masking_rate(recipe.objective, step, 40), Draws(np.arange(50), 3, Stream.MASKS, (step,))
        hidden = mask(batch, VOCABULARY, recipe.objective, rate, draws)
        for array in (batch.segments, batch.lengths, batch.pair_labels, hidden.ids, hidden.positions):
            found.update(np.asarray(array, "<i8").tobytes())
        found.update(str(batch.cut).encode())
    assert found.hexdigest()[:16] == expected


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_teacher(tmp_path_factory.mktemp("teacher"))


def sums(recipe: PretrainingRecipe, data: Path, teacher: Path) -> list[tuple[float, ...]]:
    """Loss, operations and masked tokens of two updates, and of all the text when not learning."""
    made = begun(data, recipe, teacher if recipe.objective.distillation else None)
    found = [made.update(0), made.update(1), made.evaluate(PackedTokens(data / "tokens"), "subword")]
    assert [one["padded"] for one in found if one] == [192, 192, 960]
    return [tuple(one[name] for name in ("loss", "flops", "masked")) for one in found if one]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("whole words, next sentence",
         [(4.11494, 4726656, 22), (4.04994, 4510656, 21), (4.07534, 23657472, 112)]),
        ("RoBERTa over documents", [(3.40034, 4459392, 22), (3.38255, 4459392, 22), (3.3516, 22321152, 112)]),
        ("ELECTRA", [(38.047, 7992864, 22), (37.7237, 7992864, 22), (36.92, 39973632, 112)]),
        ("ALBERT", [(4.08715, 4905120, 22), (4.06276, 4883136, 20), (4.06787, 24547584, 112)]),
        ("adversarial", [(4.1202, 12604416, 22), (4.0578, 12028416, 21), (4.08237, 63086592, 112)]),
        ("distillation", [(18.881, 7579968, 22), (18.2263, 7236384, 21), (17.5908, 37937664, 112)]),
        ("ModernBERT", [(3.42278, 5020030, 46), (3.37518, 4974530, 43), (3.36607, 23310300, 112)]),
        ("causal", [(3.37893, 8959490, 0), (3.28959, 8959490, 0), (3.22332, 36441600, 0)]),
        ("both", [(3.3948, 5444740, 34), (3.26359, 5429570, 33), (3.21791, 25934400, 85)]),
    ],
)  # fmt: skip
def test_losses_and_operations(name: str, expected: Any, data: Path, teacher: Path) -> None:
    recipe = changed(RECIPES.get(name, DISTILLATION), precision="float32", steps=6)
    assert [pytest.approx(one, rel=2e-4) for one in expected] == sums(recipe, data, teacher)
