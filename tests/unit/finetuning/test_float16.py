"""Fine-tuning in float16 on a processor: updates that overflow are skipped, and the schedule waits."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from pubmill.finetuning import run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.parameter_groups import GroupedAdam, schedule
from pubmill.finetuning.predicting import ON_GPU, choose_execution
from pubmill.finetuning.trainer import Trainer
from tests.gpu.finetuning_cases import MAKERS, PIECES
from tests.gpu.finetuning_cases import RECIPES as CASES
from tests.unit.finetuning.test_recorded_steps import CPU, RECIPE, begin
from tests.unit.tiny_encoders import tiny_bert

HALF = replace(RECIPE, precision="float16", dropout=0.0, head_dropout=0.0)
STEPS = 14
"""Two epochs of seven."""


class Watched:
    """Infinite gradients and losses that are not numbers in some steps; what each step leaves."""

    def __init__(
        self,
        patch: pytest.MonkeyPatch,
        infinite: set[int],
        no_numbers: frozenset[int] | set[int] = frozenset(),
    ) -> None:
        self.rates: list[float] = []
        self.scales: list[float] = []
        self.weights: list[Tensor] = []
        self.losses: list[float] = []
        update, loss = GroupedAdam.update, Trainer._loss

        def planted(adam: GroupedAdam) -> bool:
            if len(self.rates) in infinite:
                gradient = adam.parameters[-1].grad
                assert gradient is not None
                gradient.view(-1)[0] = math.inf
            self.rates.append(adam.adam.param_groups[0]["lr"])
            updated = update(adam)
            self.scales.append(adam.scaling.scale)
            self.weights.append(adam.parameters[-1].detach().clone())
            return updated

        def lost(trainer: Trainer, *given: Any) -> Tensor:
            found = loss(trainer, *given)
            self.losses.append(found.item())
            return found * math.nan if len(self.rates) in no_numbers else found

        patch.setattr(GroupedAdam, "update", planted)
        patch.setattr(Trainer, "_loss", lost)


def test_an_overflow_is_skipped_and_the_schedule_waits(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, split = begin(HALF, bert)
    made = Watched(monkeypatch, {0, 3}, {9})
    progress = trainer.train(split, None)
    assert progress.steps == STEPS and not progress.diverged
    same = [made.weights[step].equal(made.weights[step - 1]) for step in range(1, STEPS)]
    assert [step for step, equal in enumerate(same, 1) if equal] == [3, 9]
    halvings = [1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]
    assert made.scales == [2.0 ** (16 - number) for number in halvings]
    updates = [0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10]
    rates = [HALF.learning_rate * schedule(update, STEPS, HALF.warmup) for update in updates]
    assert made.rates == rates
    assert trainer.optimiser.scaling.state() == {"skipped": 3, "scale": 2.0**13, "updates_at_scale": 4}
    adam = trainer.optimiser.adam
    assert {value["step"].item() for value in adam.state.values()} == {11.0}
    # A finite loss of a skipped step counts; one that is not a number does not.
    second = [made.losses[step] for step in range(7, STEPS) if step != 9]
    assert progress.losses == pytest.approx([sum(made.losses[:7]) / 7, sum(second) / 6])


def test_float16_learns_as_float32_does(bert: Path) -> None:
    half, split = begin(HALF, bert)
    exact, _ = begin(replace(HALF, precision="float32"), bert)
    found, expected = half.train(split, None).losses, exact.train(split, None).losses
    assert found == pytest.approx(expected, rel=5e-3) and found != expected
    assert half.precision == "float16" and half.working is half.model
    assert half.optimiser.scaling.state() == {"skipped": 0, "scale": 2.0**16, "updates_at_scale": STEPS}
    assert exact.optimiser.scaling.state() == {}


@pytest.mark.parametrize("faults", ["gradients", "losses"])
def test_a_run_that_always_overflows_has_diverged(
    faults: str, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, split = begin(replace(HALF, epochs=6), bert)
    all_steps = set(range(100))
    Watched(
        monkeypatch,
        all_steps if faults == "gradients" else set(),
        set() if faults == "gradients" else all_steps,
    )
    progress = trainer.train(split, None)
    # 30 steps halve the scale to its smallest; an epoch without a single loss ends the run before.
    assert progress.diverged and progress.steps == (29 if faults == "gradients" else 7)


def test_parts_of_a_batch_give_one_scaled_update(bert: Path) -> None:
    whole, split = begin(HALF, bert)
    parts, _ = begin(HALF, bert)
    parts.model.encoder.set_attn_implementation("eager")  # one after another
    parts.at_once = 32
    found, expected = parts.train(split, None).losses, whole.train(split, None).losses
    assert parts.most_parts > 1 and found == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("case", CASES)
def test_every_task_and_head_learns_in_float16(case: str, tmp_path: Path) -> None:
    model = tiny_bert(tmp_path / "bert", PIECES)
    recipe = replace(CASES[case], precision="float16", epochs=2)
    draw = random.Random(1)
    examples = [MAKERS[recipe.task](draw, str(number)) for number in range(16)]
    trainer, _ = run._make_trainer(FinetuningJob(recipe, model, model, 1, "test"), examples, CPU)
    split = trainer.task.encode_split(examples, learn=True)
    trainer.task.prepare(examples, split.encoded.instances)
    before = [weight.clone() for weight in trainer.optimiser.parameters]
    progress = trainer.train(split, None)
    assert not progress.diverged and len(trainer.predict(split)) == 16
    assert trainer.optimiser.scaling.skipped < progress.steps
    assert any(not old.equal(new) for old, new in zip(before, trainer.optimiser.parameters, strict=True))


def test_gpus_compute_float16_by_plain_steps_and_the_record_says_so(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose_execution(torch.device("cuda"), "float16") == ON_GPU
    assert ON_GPU.weights == "float32" and not ON_GPU.graphs
    trainer, split = begin(HALF, bert)
    Watched(monkeypatch, {2})
    trainer.train(split, None)
    hardware = run._run_provenance(trainer)["hardware"]
    assert hardware["precision"] == "float16"
    assert hardware["loss_scaling"] == {"skipped": 1, "scale": 2.0**15, "updates_at_scale": 11}
    exact, _ = begin(replace(HALF, precision="float32"), bert)
    assert "loss_scaling" not in run._run_provenance(exact)["hardware"]
