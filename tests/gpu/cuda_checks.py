"""Checks with real CUDA: what the pretended device and the processor cannot show.

    python -m tests.gpu.cuda_checks

Needs a GPU, torch and transformers only; `--rehearse` runs some of them on a processor, with graphs that are
replayed operation by operation. Prints a line for each check and ends with status 1 if one fails. With
pytest: tests/gpu/test_cuda.py.
"""

import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from pubmill.finetuning import run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.trainer import Trainer
from pubmill.finetuning.weight_updates import compile_update, working_copy
from pubmill.hardware.torch_setup import choose_precision, configure_cuda
from pubmill.pretraining import engine
from pubmill.pretraining.distributed import World
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.methods import (
    COMPILED,
    FLASH_3,
    FLASH_CAPABILITY,
    PLAIN,
    UNPADDED,
    Methods,
    has_flash_3,
)
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.pretraining.unpadded import SeededDropout, draw_seeds
from pubmill.recipes import FinetuningRecipe, PretrainingRecipe
from tests.gpu.finetuning_cases import RECIPES, examples
from tests.gpu.trace_pretraining import RECIPES as PRETRAINING
from tests.unit.finetuning.fake_graphs import FakeRecorder
from tests.unit.pretraining.toy_pretraining import changed, make_data
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import SYLLABLES

DEVICE = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
EXAMPLES, STEPS, PRETRAINING_STEPS = 24, 6, 3
WEIGHTS = 2**25
"""Numbers of a tensor in what is timed: more than any cache of a GPU holds."""
Losses = list[float]


def begin(
    recipe: FinetuningRecipe, folder: Path, device: torch.device = DEVICE
) -> tuple[Trainer, EncodedSplit]:
    """A trainer of a tiny model, and its training data; on a processor, with fake graphs."""
    learnt = examples(recipe.task, EXAMPLES)
    job = FinetuningJob(recipe, folder / "bert", folder, 1, "test")
    trainer, _ = run._make_trainer(job, learnt, device)
    if device.type == "cpu" and trainer.precision == "bfloat16":
        trainer.model.encoder.attends_in_blocks = False  # type: ignore[assignment]  # recorded steps never do
        trainer.working = working_copy(trainer.model, torch.bfloat16)
        trainer.record(FakeRecorder())
    split = trainer.task.encode_split(learnt, learn=True)
    trainer.task.prepare(learnt, split.encoded.instances)
    return trainer, split


def steps(trainer: Trainer, split: EncodedSplit, recorded: bool = True) -> Losses:
    """Losses of some steps, without waiting for the device in between."""
    trainer.recorded = trainer.recorded if recorded else None
    torch.manual_seed(3)
    trainer.working.train()
    losses = []
    for number in range(STEPS):
        batches = trainer.epoch_batches(split, 0)
        losses.append(trainer.update(split, batches[number % 2], number, STEPS))
    return [loss.item() for loss in losses if loss is not None]


def largest(found: Losses, expected: Losses) -> float:
    return max(abs(a - b) for a, b in zip(found, expected, strict=True)) / abs(expected[0])


def same_as_processor(recipe: FinetuningRecipe, folder: Path) -> str:
    """In float32 without dropout, the losses are the processor's."""
    exact = replace(recipe, precision="float32", dropout=0.0, head_dropout=0.0)
    found = largest(steps(*begin(exact, folder)), steps(*begin(exact, folder, torch.device("cpu"))))
    assert found < 2e-3, f"losses differ by {found:.1e} of the first"
    return f"largest difference of a loss {found:.1e}"


def replayed_is_usual(recipe: FinetuningRecipe, folder: Path) -> str:
    """Steps that are replayed have the losses of steps that are not."""
    recipe = replace(recipe, precision=FAST, dropout=0.0, head_dropout=0.0)
    trainer, split = begin(recipe, folder)
    found = steps(trainer, split)
    if trainer.recorded is None:
        return "no graphs on this device"
    assert trainer.recorded.refused is None, trainer.recorded.refused
    assert trainer.recorded.shapes
    difference = largest(found, steps(*begin(recipe, folder), recorded=False))
    assert difference < 2e-2, f"losses differ by {difference:.1e} of the first"
    return f"largest difference of a loss {difference:.1e}"


def never_waits(recipe: FinetuningRecipe, folder: Path) -> str:
    """CUDA itself reports a step that waits; the first steps record."""
    if DEVICE.type == "cpu":
        return "not on a processor"
    trainer, split = begin(recipe, folder)
    if trainer.precision == "float16":
        return "in float16, each step reads the scale of the loss"
    steps(trainer, split)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for number, indices in enumerate(trainer.epoch_batches(split, 0)[:2]):
            trainer.update(split, indices, number, STEPS)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return "no wait in two steps"


def half_is_near(recipe: FinetuningRecipe, folder: Path) -> str:
    """In float16 without dropout, the losses are those of float32 up to the first skipped update."""
    exact = replace(recipe, precision="float32", dropout=0.0, head_dropout=0.0)
    trainer, split = begin(replace(exact, precision="float16"), folder)
    found, skipped = steps(trainer, split), trainer.optimiser.scaling.skipped
    return near(found, steps(*begin(exact, folder)), skipped)


def pretraining_in_half_is_near(recipe: PretrainingRecipe, folder: Path) -> str:
    """The same for pretraining."""
    exact = changed(recipe, architecture={"dropout": 0.0}, precision="float32")
    work = begin_pretraining(replace(exact, precision="float16"), folder / "data")
    found = [work.update(step)["loss"] for step in range(PRETRAINING_STEPS)]
    return near(found, pretraining_losses(PLAIN, exact, folder / "data"), work.scaling.skipped)


def near(found: Losses, expected: Losses, skipped: int) -> str:
    """Compare all losses, or the first one if updates were skipped."""
    count = 1 if skipped else len(found)
    difference = largest(found[:count], expected[:count])
    assert difference < 2e-2, f"losses differ by {difference:.1e} of the first"
    return f"largest difference of a loss {difference:.1e}, updates skipped: {skipped}"


def same_as_plain(methods: Methods, recipe: PretrainingRecipe, folder: Path) -> str:
    """In pretraining without dropout, a fast method has the losses of the plain one, but for rounding."""
    if DEVICE.type == "cpu" or torch.cuda.get_device_capability(DEVICE) < FLASH_CAPABILITY:
        return "not on this device"
    if methods == FLASH_3 and not has_flash_3({}, DEVICE):
        return "FlashAttention-3 is not there"
    recipe = changed(recipe, architecture={"dropout": 0.0})
    found = largest(*(pretraining_losses(one, recipe, folder / "data") for one in (methods, PLAIN)))
    assert found < 2e-2, f"losses differ by {found:.1e} of the first"
    return f"largest difference of a loss {found:.1e}"


def same_masks(recipe: None, folder: Path) -> str:
    """Compiled for the device, the masks of dropout are the processor's, in the forward and backward pass."""

    def drop(values: torch.Tensor, seed: torch.Tensor) -> torch.Tensor:
        dropped: torch.Tensor = SeededDropout.apply(values, 0.1, seed)
        return dropped

    kept = []
    for device in (torch.device("cpu"), DEVICE):
        torch.manual_seed(1)
        seed = draw_seeds(device=torch.device("cpu")).to(device)
        values = torch.ones(300, 200, device=device, requires_grad=True)
        dropped = (torch.compile(drop, fullgraph=True) if device.type == "cuda" else drop)(values, seed)
        (slope,) = torch.autograd.grad(dropped.sum(), values)
        kept.append((dropped.detach().cpu() > 0, slope.cpu() > 0))
    (mask, slopes), (ours, again) = kept
    assert mask.equal(slopes) and mask.equal(ours) and mask.equal(again), "masks differ"
    return f"{mask.double().mean().item():.3f} of the elements are kept"


def compiled_update_works(recipe: None, folder: Path) -> str:
    """The weight update as one kernel has the numbers of PyTorch's kernels; its speed is printed."""
    if FAST != "bfloat16" or DEVICE.type == "cpu":
        return "not on this device"
    begin = time.monotonic()
    update, refused = compile_update(DEVICE)
    seconds = time.monotonic() - begin
    assert update, refused
    halves = [torch.zeros(WEIGHTS, dtype=torch.bfloat16, device=DEVICE) for _ in range(2)]
    wholes = [torch.zeros(WEIGHTS, device=DEVICE) for _ in range(3)]
    numbers = [torch.ones(4, device=DEVICE), torch.ones((), device=DEVICE)]
    tensors = [halves[0], *wholes, halves[1], *numbers]
    update(*tensors)
    rate = 28 * WEIGHTS / seconds_on_device(lambda: update(*tensors)) / 1e12
    return f"compiled and checked in {seconds:.1f} s, {rate:.2f} TB/s"


def seconds_on_device(work: Callable[[], Any], times: int = 10) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(times):
        work()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) / 1e3 / times


def pretraining_losses(methods: Methods, recipe: PretrainingRecipe, data: Path) -> Losses:
    """Losses of some steps; the methods must work."""
    with patch.object(engine, "fastest", lambda *given: methods):
        work = begin_pretraining(recipe, data)
    assert work.computation.methods == methods, f"{methods.describe()} do not work"
    return [work.update(step)["loss"] for step in range(PRETRAINING_STEPS)]


def begin_pretraining(recipe: PretrainingRecipe, data: Path) -> engine.Pretraining:
    packed = PackedTokens(data / "tokens")
    return engine.Pretraining(recipe, packed, read_vocabulary(data, packed.special), World(DEVICE))


FAST: Any = choose_precision("auto", DEVICE) if DEVICE.type == "cuda" else "bfloat16"
KINDS: dict[str, Callable[[FinetuningRecipe, Path], str]] = {
    "float32 equals the processor": same_as_processor, "replayed steps equal usual ones": replayed_is_usual,
    "steps never wait": never_waits, "float16 is near float32": half_is_near,
}  # fmt: skip
CASES = RECIPES if DEVICE.type == "cuda" else ("tokens bilstm", "sequence mention-max", "stabilised")
CHECKS: dict[tuple[str, str], tuple[Callable[[Any, Path], str], Any]] = {
    (kind, case): (check, RECIPES[case]) for kind, check in KINDS.items() for case in CASES
}
CHECKS[("the compiled update equals PyTorch's kernels", "Adam")] = (compiled_update_works, None)
CHECKS[("masks of dropout equal the processor's", "seeded")] = (same_masks, None)
CHECKS |= {
    ("pretraining in float16 is near float32", case): (pretraining_in_half_is_near, PRETRAINING[case])
    for case in ("whole words, next sentence", "Megatron", "ALBERT", "ELECTRA", "adversarial")
}
CHECKS |= {
    (f"{methods.describe()} equal the plain method", case): (
        partial(same_as_plain, methods),
        PRETRAINING[case],
    )
    for methods in (UNPADDED, COMPILED, FLASH_3)
    for case in ("whole words, next sentence", "RoBERTa over documents", "Megatron", "ALBERT", "ModernBERT")
}


def make_models(folder: Path) -> None:
    if DEVICE.type == "cuda":
        configure_cuda(deterministic=True)
    tiny_bert(folder / "bert", SYLLABLES)
    make_data(folder / "data")


def main() -> None:
    if DEVICE.type == "cpu" and sys.argv[1:] != ["--rehearse"]:
        sys.exit("torch finds no GPU; on a processor: python -m tests.gpu.cuda_checks --rehearse")
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        make_models(Path(name))
        for (kind, case), (check, recipe) in CHECKS.items():
            try:
                line = check(recipe, Path(name))
            except Exception as error:
                traceback.print_exc()
                line, failed = f"FAILED: {type(error).__name__}: {error}".partition("\n")[0], failed + 1
            print(f"{kind}, {case}: {line}", flush=True)
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
