"""Which steps are made, when dev is scored, which weights are kept, what is reported meanwhile; float16,
whose overflows skip an update."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from pubmill.errors import PubmillError
from pubmill.finetuning import trainer
from pubmill.finetuning.predicting import DivergenceError
from pubmill.finetuning.run import Run
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.finetuning.weight_updates import GroupedAdam, RecordableAdam, schedule
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

    def scripted(
        recipe: Any, scores: Sequence[float], loss: Callable[[int], float] = float
    ) -> tuple[Run, Steps]:
        script = Script(monkeypatch, scores, loss)
        return learnt(recipe, cases, "dev" if scores else None), script.steps

    return scripted


def kept(run: Run) -> float:
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


HALF = replace(RECIPES["tokens"], epochs=2, precision="float16", dropout=0.0, head_dropout=0.0)
FLOAT32 = replace(HALF, precision="float32")
STEPS = 14
"""Two epochs of seven."""
NEVER = frozenset[int]()


class Watched:
    """Infinite gradients and losses that are not numbers in some steps; what each step leaves."""

    def __init__(
        self, patch: pytest.MonkeyPatch, infinite: frozenset[int], no_numbers: frozenset[int] = NEVER
    ) -> None:
        self.rates: list[float] = []
        self.scales: list[float] = []
        self.weights: list[Tensor] = []
        self.losses: list[float] = []
        self.counts: set[float] = set()
        update, loss = GroupedAdam.update, Tokens.loss

        def planted(adam: GroupedAdam) -> bool:
            if len(self.rates) in infinite:
                gradient = adam.parameters[-1].grad
                assert gradient is not None
                gradient.view(-1)[0] = math.inf
            self.rates.append(adam.adam.param_groups[0]["lr"])
            updated = update(adam)
            self.scales.append(adam.scaling.scale)
            self.weights.append(adam.parameters[-1].detach().clone())
            self.counts = {value["step"].item() for value in adam.adam.state.values()}
            return updated

        def lost(task: Tokens, *given: Any) -> Tensor:
            found = loss(task, *given)
            self.losses.append(found.item())
            return found * math.nan if len(self.rates) in no_numbers else found

        patch.setattr(GroupedAdam, "update", planted)
        patch.setattr(Tokens, "loss", lost)


def test_an_overflow_is_skipped_and_the_schedule_waits(cases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Watched(monkeypatch, frozenset({0, 3}), frozenset({9}))
    report = learnt(HALF, cases).report
    assert report["steps"] == STEPS and report["failed"] is None
    same = [made.weights[step].equal(made.weights[step - 1]) for step in range(1, STEPS)]
    assert [step for step, equal in enumerate(same, 1) if equal] == [3, 9]
    halvings = [1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]
    assert made.scales == [2.0 ** (16 - number) for number in halvings]
    updates = [0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10]
    assert made.rates == [HALF.learning_rate * schedule(update, STEPS, HALF.warmup) for update in updates]
    hardware: Any = report["hardware"]
    assert hardware["loss_scaling"] == {"skipped": 3, "scale": 2.0**13, "updates_at_scale": 4}
    assert hardware["precision"] == "float16" and made.counts == {11.0}
    # A finite loss of a skipped step counts; one that is not a number does not.
    second = [made.losses[step] for step in range(7, STEPS) if step != 9]
    assert report["loss_by_epoch"] == pytest.approx([sum(made.losses[:7]) / 7, sum(second) / 6])


def test_float16_learns_as_float32_does_also_in_parts(cases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact, half = learnt(FLOAT32, cases).report, learnt(HALF, cases).report
    assert half["loss_by_epoch"] == pytest.approx(exact["loss_by_epoch"], rel=5e-3)
    assert half["loss_by_epoch"] != exact["loss_by_epoch"]
    scaling: Any = half["hardware"]["loss_scaling"]
    assert scaling == {"skipped": 0, "scale": 2.0**16, "updates_at_scale": STEPS}
    assert "loss_scaling" not in exact["hardware"]
    monkeypatch.setattr(trainer, "uses_blocks", lambda encoder: False)
    monkeypatch.setattr(trainer, "tokens_at_once", lambda *given: 32)
    parts = learnt(HALF, cases).report
    assert parts["loss_by_epoch"] == pytest.approx(half["loss_by_epoch"], rel=5e-3)


@pytest.mark.parametrize(("faults", "steps"), [("gradients", 29), ("losses", 7)])
def test_a_run_that_always_overflows_has_diverged(
    faults: str, steps: int, cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 steps halve the scale to its smallest; an epoch without a single loss ends the run before."""
    always = frozenset(range(100))
    Watched(monkeypatch, *((always, NEVER) if faults == "gradients" else (NEVER, always)))
    report = learnt(replace(HALF, epochs=6), cases).report
    assert report["failed"] == "nan" and report["steps"] == steps
