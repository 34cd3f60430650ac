"""Fine-tuning in float16 on a processor: updates that overflow are skipped, and the schedule waits."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from pubmill.finetuning import trainer
from pubmill.finetuning.tasks.tokens import Tokens
from pubmill.finetuning.weight_updates import GroupedAdam, schedule
from tests.gpu.finetuning_cases import RECIPES as CASES
from tests.unit.finetuning.fake_graphs import learnt

HALF = replace(CASES["tokens"], epochs=2, precision="float16", dropout=0.0, head_dropout=0.0)
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
