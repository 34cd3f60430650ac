"""Runs of the speedrun (benchmarks/speedrun_runs.py) with a tiny budget on made-up text."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import speedrun_runs
from benchmarks.speedrun_queue import merged
from benchmarks.speedrun_rules import SpeedRun
from benchmarks.speedrun_runs import SpeedText, execute, fixed_text
from pubmill.errors import PubmillError, StopRequestedError
from pubmill.pretraining.engine import Pretraining
from pubmill.recipes.reading import as_values
from tests.unit.pretraining.toy_pretraining import RECIPE, make_data

BUDGET = 1e8
VALUES = {key: value for key, value in as_values(RECIPE).items() if key not in ("steps", "seed")}
MODERN = merged(VALUES, {"architecture": {"family": "modernbert"}, "objective": {"pairs": "none"}})
CAUSAL = merged(MODERN, {"objective": {"causal": {"share": 0.25}}})
GENERATOR = {"hidden_size": 8, "attention_heads": 2, "intermediate_size": 16}
ELECTRA = merged(
    VALUES, {"architecture": {"family": "electra"}, "objective": {"pairs": "none", "generator": GENERATOR}}
)
TWO = [{"share": 0.5, "recipe": VALUES}, {"share": 0.5, "recipe": merged(VALUES, {"batch_size": 4})}]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> SpeedText:
    folder = make_data(tmp_path_factory.mktemp("text"))
    return SpeedText(folder / "tokens", folder)


def made(phases: list[Any], text: SpeedText, folder: Path, monkeypatch: pytest.MonkeyPatch) -> SpeedRun:
    monkeypatch.setattr(speedrun_runs, "budget", lambda division: BUDGET)
    return execute(phases, "1-minute", 3, text, folder, 10.0)


def test_a_run_spends_its_budget_and_is_not_repeated(
    text: SpeedText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made(TWO, text, tmp_path, monkeypatch)
    assert 0.9 * BUDGET < first.operations < 1.01 * BUDGET
    half, whole = (one["batch_size"] for one in first.recipe)
    assert (half, whole) == (8, 4) and {one["steps"] for one in first.recipe} == {first.steps}
    assert [point[0] for point in first.curve] == sorted(point[0] for point in first.curve)
    assert first.seed == 3 == first.recipe[0]["seed"] and first.text == text.digests()
    monkeypatch.setattr(Pretraining, "update", None)
    again = made(TWO, text, tmp_path, monkeypatch)
    assert replace(again, machine={}) == replace(first, machine={})


def test_a_run_that_was_stopped_continues(
    text: SpeedText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed, update = made(TWO, text, tmp_path / "a", monkeypatch), Pretraining.update

    def stop(work: Pretraining, step: int) -> dict[str, float]:
        if step == undisturbed.steps - 2:
            raise StopRequestedError
        return update(work, step)

    monkeypatch.setattr(Pretraining, "update", stop)
    with pytest.raises(StopRequestedError):
        made(TWO, text, tmp_path / "b", monkeypatch)
    monkeypatch.setattr(Pretraining, "update", update)
    continued = made(TWO, text, tmp_path / "b", monkeypatch)
    assert (continued.loss, continued.operations) == (undisturbed.loss, undisturbed.operations)


def test_every_recipe_is_scored_at_the_same_positions(
    text: SpeedText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, measure = [], Pretraining.measure

    def look(work: Pretraining, prepared: Any) -> dict[str, float]:
        seen.append(prepared.hidden)
        return measure(work, prepared)

    monkeypatch.setattr(Pretraining, "measure", look)
    for name, values in {"pairs": VALUES, "modern": MODERN, "causal": CAUSAL, "electra": ELECTRA}.items():
        run = made([{"share": 1.0, "recipe": values}], text, tmp_path / name, monkeypatch)
        assert 0 < run.loss < 10
    pairs, modern, causal, electra = seen
    for other in (modern, causal, electra):
        assert np.array_equal(pairs.labels, other.labels) and np.array_equal(pairs.ids, other.ids)
    assert np.array_equal(pairs.positions, modern.positions)
    assert np.array_equal(pairs.positions, electra.positions)
    assert np.array_equal(pairs.positions, causal.positions + 1)


def test_another_text_is_refused(text: SpeedText, tmp_path: Path) -> None:
    scale = tmp_path / "speedrun"
    (scale / "pretraining/tokens/speedrun").mkdir(parents=True)
    (scale / "vocabs").mkdir()
    (scale / "pretraining/tokens/speedrun/speedrun").symlink_to(text.tokens)
    (scale / "vocabs/speedrun").symlink_to(text.vocab)
    with pytest.raises(PubmillError, match="another text than that of the speedrun"):
        fixed_text(tmp_path)
