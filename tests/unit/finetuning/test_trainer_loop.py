"""Which steps are made, when dev is scored, which weights are kept, and what is reported meanwhile."""

import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.finetuning import predicting
from pubmill.finetuning import trainer as module
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.predicting import DivergenceError, Execution
from pubmill.finetuning.trainer import Trainer
from tests.unit.finetuning.fake_graphs import FakeRecorder
from tests.unit.finetuning.test_recorded_steps import RECIPE, begin

BEST = replace(RECIPE, keep="best", epochs=1)


class Scripted:
    """A trainer whose steps set a weight to their number, with losses and dev scores as listed."""

    def __init__(
        self, patch: pytest.MonkeyPatch, model: Path, recipe: Any, scores: list[float], loss: Any = float
    ) -> None:
        self.trainer, self.split = begin(recipe, model)
        self.weight = next(self.trainer.model.head.parameters())
        self.steps: list[tuple[int, int]] = []
        self.loss = loss
        patch.setattr(self.trainer, "_update", self.update)
        patch.setattr(self.trainer, "predict", lambda split: [])
        patch.setattr(self.trainer.task, "dev_score", lambda examples, found: scores.pop(0))

    def update(self, train: EncodedSplit, indices: Any, step: int, total: int) -> torch.Tensor:
        assert self.trainer.working.training
        self.steps.append((step, total))
        with torch.no_grad():
            self.weight.fill_(step + 1)
        return torch.tensor(self.loss(step))

    def train(self, dev: bool = True, passes: float | None = None) -> module.FinetuningProgress:
        return self.trainer.train(self.split, self.split if dev else None, passes)

    @property
    def kept(self) -> float:
        """The step whose weights the trainer ended with."""
        return self.weight.detach().flatten()[0].item()


def epoch(trainer: Trainer, split: EncodedSplit) -> int:
    return -(-len(split.encoded.instances) // trainer.recipe.batch_size)


def test_the_first_of_the_best_weights_are_kept(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Scripted(monkeypatch, bert, replace(BEST, evaluate_every=3), [0.1, 0.5, 0.5, 0.2])
    steps = epoch(made.trainer, made.split)
    found = made.train()
    assert found.dev == [(3, 0.1), (6, 0.5), (steps, 0.5)] and found.best == (6, 0.5)
    assert made.kept == 6 and found.steps == found.steps_per_epoch == steps == 7
    assert made.steps == [(step, 7) for step in range(7)]
    assert found.losses == [3.0] and not found.diverged


def test_dev_is_scored_after_each_epoch_even_with_negative_scores(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Scripted(monkeypatch, bert, replace(BEST, epochs=3), [-0.5, -0.2, -0.9])
    found = made.train()
    assert found.dev == [(7, -0.5), (14, -0.2), (21, -0.9)] and found.best == (14, -0.2)
    assert made.kept == 14 and found.losses == [3.0, 10.0, 17.0]
    assert found.tokens == 3 * sum(made.split.lengths)


def test_the_last_weights_are_kept_and_dev_is_scored_once(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Scripted(monkeypatch, bert, replace(RECIPE, stop_after=9), [0.3])
    found = made.train()
    assert found.dev == [(9, 0.3)] and found.best == (9, 0.3) and made.kept == found.steps == 9
    assert made.steps == [(step, 14) for step in range(9)]  # the schedule is that of all epochs
    assert found.losses == [3.0, 7.5] and not found.best_weights


@pytest.mark.parametrize(("passes", "steps"), [(0.01, 1), (0.5, 4), (1.3, 9), (2.0, 14), (9.0, 14)])
def test_passes_over_the_data_are_rounded_to_steps(
    bert: Path, monkeypatch: pytest.MonkeyPatch, passes: float, steps: int
) -> None:
    made = Scripted(monkeypatch, bert, replace(RECIPE, stop_after=2), [])
    assert made.train(dev=False, passes=passes).steps == steps == made.kept


def test_a_copy_in_bfloat16_learns_and_ends_with_the_best_weights(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU with tensor cores, here without Triton: large weights have no kernel."""
    execution = Execution(weights="bfloat16", graphs=True, width=16)
    monkeypatch.setattr(predicting, "choose_execution", lambda device, precision: execution)
    monkeypatch.setattr(module, "cuda_recorder", FakeRecorder)
    monkeypatch.setattr(module, "compile_update", lambda device: (None, "no compiler"))
    made = Scripted(monkeypatch, bert, replace(BEST, evaluate_every=3), [0.1, 0.5, 0.2])
    trainer = made.trainer
    assert trainer.working is not trainer.model and trainer.working.encoder.dtype == torch.bfloat16
    found = trainer.describe_execution()
    assert (found["update"], found["update_refused"]) == ("plain", "no compiler")
    made.weight = next(trainer.model.encoder.parameters())
    assert made.train().best == (6, 0.5)
    assert made.kept == 6
    pairs = zip(trainer.working.encoder.parameters(), trainer.model.encoder.parameters(), strict=True)
    assert all(copied.equal(weight.bfloat16()) for copied, weight in pairs)


def test_without_dev_nothing_is_scored(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Scripted(monkeypatch, bert, RECIPE, [])
    found = made.train(dev=False)
    assert found.dev == [] and found.best is None and made.kept == 14


def test_a_loss_that_is_not_a_number_is_noticed_at_the_next_look(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for look, last in ((4, 4), (50, 7)):
        monkeypatch.setattr(module, "CHECK_STEPS", look)
        made = Scripted(monkeypatch, bert, RECIPE, [], lambda step: float("nan") if step == 1 else 1.0)
        found = made.train(dev=False)
        assert found.diverged and len(made.steps) == last and found.losses == []


def test_a_prediction_that_is_not_a_number_ends_the_training(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverge(split: EncodedSplit) -> list[Any]:
        raise DivergenceError

    made = Scripted(monkeypatch, bert, replace(BEST, evaluate_every=2), [])
    monkeypatch.setattr(made.trainer, "predict", diverge)
    found = made.train()
    assert found.diverged and found.steps == 2 and found.best is None


def test_progress_is_reported_with_the_mean_loss_and_the_time_left(
    bert: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each step takes two seconds, and a report follows when more than five have passed."""
    clock = count(0, 2)
    made = Scripted(monkeypatch, bert, RECIPE, [])
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: float(next(clock)))
        found = made.train(dev=False)
    assert found.seconds == 28.0
    lines = [line.partition("step ")[2] for line in capsys.readouterr().err.splitlines() if "left" in line]
    assert lines == [
        "3/14: loss 1.0000, 22 s left",
        "6/14: loss 2.5000, 16 s left",
        "9/14: loss 7.5000, 10 s left",
        "12/14: loss 9.0000, 4 s left",
    ]
