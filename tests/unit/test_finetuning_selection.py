"""The choice of a grid point from trials."""

import copy
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.finetuning.selection import select

ROOT = Path(__file__).resolve().parents[2]
Trials = list[tuple[Path, dict[str, Any]]]


def trials(scores: dict[float, list[float]]) -> Trials:
    """Trials of learning rates, each with the dev scores of two models and, if more, further seeds."""
    made: Trials = []
    for rate, values in scores.items():
        runs = itertools.product((1, 2, 3), ("bert", "biobert"))
        for value, (seed, model) in zip(values, runs, strict=False):
            training = {
                "recipe": {"learning_rate": rate, "batch_size": 16, "epochs": 3, "dropout": 0.1},
                "data_sha256": {"train": "a", "dev": "b"},
                "model": model,
                "seed": seed,
                "dev": {"best": value},
                "failed": None,
            }
            made.append((Path(f"{rate}/{model}-{seed}.training.json"), training))
    return made


def test_the_best_mean_over_models_and_seeds_is_chosen() -> None:
    chosen = select(trials({1e-5: [0.9, 0.1], 3e-5: [0.6, 0.7], 5e-5: [0.5, 0.6]}))
    assert (chosen["learning_rate"], chosen["batch_size"], chosen["epochs"]) == (3e-5, 16, 3)
    assert chosen["mean_dev"] == pytest.approx(0.65)
    assert [point["learning_rate"] for point in chosen["considered"]] == [1e-5, 3e-5, 5e-5]


def test_of_equals_the_first_in_the_grid_is_chosen() -> None:
    assert select(trials({3e-5: [0.5, 0.5], 1e-5: [0.5, 0.5]}))["learning_rate"] == 3e-5


def test_a_point_with_a_failed_trial_is_not_chosen_but_named() -> None:
    made = trials({1e-5: [0.5, 0.5], 1e-2: [0.9, 0.9]})
    made[-1][1].update(failed="nan", dev={"best": None})
    chosen = select(made)
    assert chosen["learning_rate"] == 1e-5
    assert chosen["considered"][1] == {
        "learning_rate": 1e-2, "batch_size": 16, "epochs": 3, "mean_dev": None, "trials": 2, "failed": 1,
    }  # fmt: skip


def test_all_points_failed_is_an_error() -> None:
    made = trials({1e-2: [0.9, 0.9]})
    made[0][1]["failed"] = "nan"
    with pytest.raises(PubmillError, match="each one has a failed trial"):
        select(made)


def test_an_incomplete_point_is_an_error() -> None:
    with pytest.raises(PubmillError, match=r"learning_rate 5e-05.*biobert"):
        select(trials({1e-5: [0.5, 0.5], 5e-5: [0.9]}))


@pytest.mark.parametrize("key", ["recipe", "data_sha256"])
def test_trials_that_cannot_be_compared_are_an_error(key: str) -> None:
    made = copy.deepcopy(trials({1e-5: [0.5], 5e-5: [0.9]}))
    made[1][1][key].update({"dropout": 0.2} if key == "recipe" else {"dev": "other"})
    with pytest.raises(PubmillError, match=r"1e-05/bert-1.*5e-05/bert-1.*can't be compared"):
        select(made)


def test_the_program_writes_what_finetune_reads(tmp_path: Path) -> None:
    paths = []
    for number, (_, training) in enumerate(trials({1e-5: [0.5], 5e-5: [0.9]})):
        paths.append(tmp_path / f"{number}.training.json")
        paths[-1].write_text(json.dumps(training))
    command = [sys.executable, str(ROOT / "scripts/select_trial.py"), "--recipe", '{"by": "dev"}']
    output = tmp_path / "selected.json"
    subprocess.run([*command, "--output", str(output), "--trials", *map(str, paths)], check=True)
    assert json.loads(output.read_text())["learning_rate"] == 5e-5
    refused = subprocess.run(
        [*command[:-1], '{"by": "test"}', "--output", str(output), "--trials", str(paths[0])],
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 1 and "selected by" in refused.stderr
