"""Which steps are made, when dev is scored, which weights are kept, and what is reported meanwhile."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.finetuning import trainer
from pubmill.finetuning.predicting import DivergenceError
from pubmill.finetuning.run import Run
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.finetuning.weight_updates import GroupedAdam, RecordableAdam
from tests.gpu.finetuning_cases import RECIPES
from tests.unit.finetuning.fake_graphs import learnt

LAST = replace(RECIPES["tokens"], epochs=2, precision="float32")
"""Two epochs of seven steps."""
BEST = replace(LAST, keep="best", epochs=1)
Steps = list[tuple[int, int]]


class Script:
    """Steps that set the last weight to their number, with losses and dev scores as listed."""

    def __init__(self, patch: pytest.MonkeyPatch, scores: Sequence[float], loss: Any) -> None:
        self.steps: Steps = []
        left = list(scores)

        def update(adam: GroupedAdam) -> bool:
            with torch.no_grad():
                adam.parameters[-1].fill_(len(self.steps))
            adam.clear()
            return True

        for kind in (GroupedAdam, RecordableAdam):
            patch.setattr(kind, "update", update)
            patch.setattr(kind, "schedule", lambda adam, step, total: self.steps.append((step, total)))
        patch.setattr(Tokens, "dev_score", lambda *given: left.pop(0))
        patch.setattr(
            Tokens, "loss", lambda task, model, scores, *given: 0 * scores.sum() + loss(self.steps[-1][0])
        )


@pytest.fixture
def scripted(cases: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Run, Steps]]:
    """A function of a recipe and its dev scores that trains."""

    def scripted(
        recipe: Any, scores: Sequence[float], loss: Callable[[int], float] = float
    ) -> tuple[Run, Steps]:
        script = Script(monkeypatch, scores, loss)
        return learnt(recipe, cases, "dev" if scores else None), script.steps

    return scripted


def kept(run: Run) -> float:
    """The step whose weights the training ended with."""
    return list(run.model.parameters())[-1].detach().flatten()[0].item()


@pytest.mark.parametrize(
    ("recipe", "scores", "dev", "losses", "ended", "total"),
    [
        # the first of the best weights
        (replace(BEST, evaluate_every=3), [0.1, 0.5, 0.5], [3, 6, 7], [3.0], 6, 7),
        # after each epoch, also with negative scores
        (replace(BEST, epochs=3), [-0.5, -0.2, -0.9], [7, 14, 21], [3.0, 10.0, 17.0], 14, 21),
        # the last weights, scored once; the schedule is that of all epochs
        (replace(LAST, stop_after=9), [0.3], [9], [3.0, 7.5], 9, 14),
        (LAST, [], [], [3.0, 10.0], 14, 14),
    ],
)
def test_which_weights_are_kept_and_when_dev_is_scored(
    recipe: Any, scores: list[float], dev: list[int], losses: list[float], ended: int, total: int,
    scripted: Any,
) -> None:  # fmt: skip
    run, steps = scripted(recipe, scores)
    report = run.report
    assert (report["dev"]["steps"], report["dev"]["scores"]) == (dev, scores)
    assert report["dev"]["best_step"] == (ended if scores else None) and kept(run) == ended
    assert report["loss_by_epoch"] == losses and report["failed"] is None
    made = recipe.stop_after or total
    assert steps == [(step, total) for step in range(made)] and report["steps"] == made


@pytest.mark.parametrize(("scores", "steps"), [([0.9, 0.1, 0.1], 4), ([0.1, 0.1, 0.2], 10)])
def test_training_anew_makes_the_passes_that_were_best(
    scores: list[float], steps: int, scripted: Any
) -> None:
    """3 of 7 steps, or all: with dev, an epoch has 10."""
    run, _ = scripted(replace(BEST, evaluate_every=3, train_on="train+dev"), scores)
    assert run.report["steps_on_train_and_dev"] == kept(run) - 7 == steps


@pytest.mark.parametrize(("look", "last"), [(4, 4), (50, 7)])
def test_a_loss_that_is_not_a_number_is_noticed_at_the_next_look(
    look: int, last: int, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "CHECK_STEPS", look)
    run, steps = scripted(LAST, [], lambda step: float("nan") if step == 1 else 1.0)
    assert run.report["failed"] == "nan" and len(steps) == last and run.report["loss_by_epoch"] == []


def test_a_prediction_that_is_not_a_number_ends_the_training(
    scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverge(*given: Any) -> None:
        raise DivergenceError

    monkeypatch.setattr(trainer.Trainer, "predict", diverge)
    run, steps = scripted(replace(BEST, evaluate_every=2), [0.5])
    assert run.report["failed"] == "nan" and len(steps) == 2 and run.report["dev"]["best"] is None


def test_progress_is_reported_with_the_mean_loss_and_the_time_left(
    scripted: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each step takes two seconds, and a report follows when more than five have passed."""
    clock = count(0, 2)
    monkeypatch.setattr(trainer, "time", type("Clock", (), {"monotonic": lambda: float(next(clock))}))
    scripted(LAST, [])
    lines = [line.partition("step ")[2] for line in capsys.readouterr().err.splitlines() if "left" in line]
    assert lines == [
        "3/14: loss 1.0000, 22 s left", "6/14: loss 2.5000, 16 s left", "9/14: loss 7.5000, 10 s left",
        "12/14: loss 9.0000, 4 s left",
    ]  # fmt: skip


def test_without_dev_the_best_weights_cannot_be_chosen(cases: Path) -> None:
    with pytest.raises(PubmillError, match="no dev to choose the best weights by"):
        learnt(BEST, cases)
