"""Pretraining in float16 on a processor: overflows are skipped, and a resumed training is the same."""

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor
from torch.nn import Parameter

from pubmill.errors import PubmillError
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining, learning_rate
from pubmill.pretraining.learners import Learner
from tests.unit.pretraining.toy_pretraining import RECIPE, changed, log, losses, pretrain, state, weights

HALF = changed(RECIPE, precision="float16", steps=12)
INFINITE = {0, 4, 5}
"""Steps with an infinite gradient."""


class Watched:
    """Infinite gradients and losses that are not numbers in some steps; what each step leaves."""

    def __init__(self, patch: pytest.MonkeyPatch, infinite: set[int], no_numbers: set[int]) -> None:
        self.scales: list[float] = []
        self.weights: list[Tensor] = []
        update, add, forward = Pretraining.update, World.add_gradients, Learner.forward
        current = [0]

        def watched(work: Pretraining, step: int) -> dict[str, float]:
            current[0] = step
            sums = update(work, step)
            self.scales.append(work.scaling.scale)
            self.weights.append(next(work.model.parameters()).detach().clone())
            return sums

        def planted(world: World, weights: Iterable[Parameter]) -> None:
            weights = list(weights)
            if current[0] in infinite:
                assert weights[0].grad is not None
                weights[0].grad[0, 0] = math.inf
            add(world, weights)

        def lost(learner: Learner, part: Any) -> dict[str, Tensor]:
            found = forward(learner, part)
            if learner.training and current[0] in no_numbers:
                found["mlm_loss"] = found["mlm_loss"] * math.nan
            return found

        patch.setattr(Pretraining, "update", watched)
        patch.setattr(World, "add_gradients", planted)
        patch.setattr(Learner, "forward", lost)


@pytest.mark.long
@pytest.mark.parametrize("optimiser", ["adamw", "lamb"])
def test_an_overflow_is_skipped_and_a_resumed_training_is_the_same(
    optimiser: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = changed(HALF, optimisation={"optimiser": optimiser})
    made = Watched(monkeypatch, INFINITE, {8})
    whole = pretrain(data, tmp_path / "whole", 12, recipe=recipe)
    halvings = [1, 1, 1, 1, 2, 3, 3, 3, 4, 4, 4, 4]
    assert made.scales == [2.0 ** (16 - number) for number in halvings]
    same = [made.weights[step].equal(made.weights[step - 1]) for step in range(1, 12)]
    assert [step for step, equal in enumerate(same, 1) if equal] == [4, 5, 8]
    said, lines = state(whole), log(whole)
    assert said["loss_scaling"] == {"skipped": 4, "scale": 2.0**12, "updates_at_scale": 3}
    assert said["hardware"]["precision"] == "float16" and said["step"] == 12
    # Neither the log nor the schedule counts skipped steps.
    assert [line["step"] for line in lines] == [2, 3, 4, 7, 8, 10, 11, 12]
    rates = [learning_rate(recipe.optimisation, update, 12) for update in range(8)]
    assert [line["learning_rate"] for line in lines] == rates
    assert math.isfinite(said["average"]) and all(math.isfinite(line["loss"]) for line in lines)

    # Each segment ends with a skipped step: the first, the fifth and the sixth.
    previous = None
    for end in (1, 5, 6, 12):
        previous = pretrain(data, tmp_path / f"step-{end}", end, previous, recipe)
    assert previous and weights(previous) == weights(whole) and losses(previous) == losses(whole)
    assert state(previous)["loss_scaling"] == said["loss_scaling"]


def test_float16_learns_as_float32_does(data: Path, tmp_path: Path) -> None:
    exact = changed(HALF, precision="float32", architecture={"dropout": 0.0})
    half = replace(exact, precision="float16")
    found, expected = (pretrain(data, tmp_path / one.precision, 12, recipe=one) for one in (half, exact))
    assert losses(found) == pytest.approx(losses(expected), rel=2e-3)
    assert losses(found) != losses(expected)
    assert state(found)["loss_scaling"] == {"skipped": 0, "scale": 2.0**16, "updates_at_scale": 12}
    assert "loss_scaling" not in state(expected)


def test_a_training_that_always_overflows_ends_with_the_last_save(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Watched(monkeypatch, set(range(3, 40)), set())
    recipe = replace(HALF, steps=40)
    with pytest.raises(PubmillError, match=r"step 33: .*any loss scale.*step-32.*precision: float32"):
        pretrain(data, tmp_path / "made", 40, recipe=recipe, save_minutes=0)


def test_another_format_keeps_the_schedule_of_a_float16_training(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`auto` on another GPU: the same recipe, another number format."""
    auto = replace(HALF, precision="auto")
    Watched(monkeypatch, {1}, set())
    monkeypatch.setattr("pubmill.pretraining.engine.choose_precision", lambda wanted, device: "float16")
    half = pretrain(data, tmp_path / "step-4", 4, recipe=auto)
    monkeypatch.setattr("pubmill.pretraining.engine.choose_precision", lambda wanted, device: "float32")
    made = pretrain(data, tmp_path / "step-6", 6, half, auto)
    assert "precision was float16, is now float32" in capsys.readouterr().err
    assert state(made)["loss_scaling"] == {"skipped": 1}
    assert log(made)[-1]["learning_rate"] == learning_rate(auto.optimisation, 4, 12)
