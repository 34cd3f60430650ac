"""The choice of a grid point from trials."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.finetuning.trial_selection import STEPS, read_choice, select

Trials = list[tuple[Path, dict[str, Any]]]
DECIDES = ["learning_rate", "batch_size"]


def trials(scores: dict[float, list[float]]) -> Trials:
    """Trials of learning rates, each with the dev scores of two models and, if more, further seeds."""
    made: Trials = []
    for rate, values in scores.items():
        runs = itertools.product((1, 2, 3), ("bert", "biobert"))
        for value, (seed, model) in zip(values, runs, strict=False):
            training = {
                "recipe": {"learning_rate": rate, "batch_size": 16, "dropout": 0.1, "head_sizes": [8]},
                "data_sha256": {"train": "a", "dev": "b"}, "model": model, "seed": seed,
                "dev": {"best": value, "best_step": round(100 * value)}, "failed": None,
            }  # fmt: skip
            made.append((Path(f"{rate}/{model}-{seed}.training.json"), training))
    return made


FAILED: dict[str, Any] = {"failed": "nan", "dev": {"best": None, "best_step": None}}
RATE, BATCH, LONGER = "learning_rate", "batch_size", [0.9, 0.4, 0.9]


FEWEST = {1e-5: [0.2, 0.4, 0.4], 3e-5: [0.3, 0.7, 0.1], 1e-2: [0.9, 0.9, 0.9]}
CONSTANT = {"failed": "constant predictions"}


@pytest.mark.parametrize(
    ("scores", "failed", "decides", "expected"),
    [
        # the best mean over models and seeds, not the best run
        ({1e-5: [0.9, 0.1], 3e-5: [0.6, 0.7], 5e-5: [0.5, 0.6]}, {}, DECIDES, ({RATE: 3e-5}, 0.65, [0] * 3)),
        # of equals the first in the grid
        ({3e-5: [0.5, 0.5], 1e-5: [0.5, 0.5]}, {}, DECIDES, ({RATE: 3e-5}, 0.5, [0, 0])),
        # the steps of a point are the mean of its trials
        ({1e-5: LONGER, 5e-5: [0.1] * 3}, {}, [RATE, STEPS], ({RATE: 1e-5, STEPS: 73}, 0.7333, [0, 0])),
        ({1e-5: LONGER}, {}, [STEPS], ({STEPS: 73}, 0.7333, [0])),
        ({1e-5: [0.0]}, {}, [STEPS], ({STEPS: 1}, 0.0, [0])),
        # a point with a failed trial is not chosen but named
        ({1e-5: [0.5, 0.5], 1e-2: [0.9, 0.9]}, {3: FAILED}, DECIDES, ({RATE: 1e-5}, 0.5, [0, 1])),
        # where every point has some, the fewest count first
        (FEWEST, dict.fromkeys((0, 5, 6, 7), FAILED), DECIDES, ({RATE: 3e-5}, 0.5, [1, 1, 2])),
        # it diverged after a best epoch
        ({2e-3: [0.9, 0.4, 0.8]}, {0: {"failed": "nan"}}, [STEPS], ({STEPS: 60}, 0.6, [1])),
        # constant predictions have a dev score and take part
        ({1e-5: [0.5], 3e-5: [0.6]}, {1: CONSTANT}, DECIDES, ({RATE: 3e-5}, 0.6, [0, 0])),
    ],
)
def test_which_point_is_chosen(
    scores: dict[float, list[float]], failed: dict[int, Any], decides: list[str], expected: Any
) -> None:
    """`failed`: trials that differ in these values; expected are choice, mean and failures."""
    made, (chosen, mean, failures) = trials(scores), expected
    for place, values in failed.items():
        made[place][1].update(values)
    selected = select(made, decides)
    assert selected["chosen"] == chosen | ({BATCH: 16} if BATCH in decides else {})
    assert selected["failed"] is None and selected["mean_dev"] == pytest.approx(mean, abs=1e-4)
    considered = selected["considered"]
    assert [point["failed"] for point in considered] == failures
    assert [point["trials"] for point in considered] == list(map(len, scores.values()))
    assert [point.get(RATE) for point in considered] == [rate if RATE in decides else None for rate in scores]


def test_any_key_can_be_searched_lists_and_nulls_too() -> None:
    made = trials({1e-5: [0.5], 2e-5: [0.9], 3e-5: [0.7]})
    for (_, training), sizes, layers in zip(made, ([8], [8, 8], []), (None, 3, None), strict=True):
        training["recipe"].update(learning_rate=1e-5, head_sizes=sizes, frozen_layers=layers)
    chosen = select(made, ["frozen_layers", "head_sizes"])["chosen"]
    assert chosen == {"frozen_layers": 3, "head_sizes": [8, 8]}


@pytest.mark.parametrize("reason", ["nan", "my-bert: the weights of 3 parameters are missing"])
def test_where_all_trials_failed_nothing_is_chosen(reason: str) -> None:
    made = trials({1e-2: [0.9, 0.9], 3e-2: [0.9, 0.9]})
    for _, training in made:
        training.update(FAILED | {"failed": reason})
    selected = select(made, [*DECIDES, "stop_after"])
    assert (selected["chosen"], selected["failed"], selected["mean_dev"]) == (None, reason, None)
    assert [point["failed"] for point in selected["considered"]] == [2, 2]


@pytest.mark.parametrize(
    ("changed", "decides", "fault"),
    [
        ({}, ["rate"], r"1e-05/bert-1.*has no rate, which --recipe says was searched"),
        ({"dev": {"best": None}}, DECIDES, r"3e-05/bert-1.*dev has no best"),
        ({"dev": {"best": 0.7}}, [*DECIDES, "stop_after"], r"3e-05/bert-1.*dev has no best_step"),
        ({"failed": ...}, DECIDES, r"3e-05/bert-1.*has no failed"),
        ({"dev": []}, DECIDES, r"3e-05/bert-1.*has no dev, or of another form"),
        ({"model": "biobert"}, DECIDES, r"learning_rate 1e-05.*'biobert', 1"),  # a point lacks a trial
        ({"recipe": {"learning_rate": 1e-5}}, ["batch_size"], "has no batch_size"),
        ({"recipe": {"learning_rate": 1e-5, "batch_size": 16, "dropout": 0.1, "head_sizes": [8]}},
         ["batch_size"], r"tried with .*\('bert', 1\), \('bert', 1\)"),
        ({"recipe": {"learning_rate": 3e-5, "batch_size": 16, "dropout": 0.2, "head_sizes": [8]}},
         DECIDES, r"1e-05/bert-1.*3e-05/bert-1.*can't be compared"),
        ({"data_sha256": {"train": "a", "dev": "c"}}, DECIDES, r"1e-05/bert-1.*can't be compared"),
        ({"data_sha256": {"train": "a", "test": "b"}}, DECIDES, "differ in their dev data"),
    ],
)  # fmt: skip
def test_trials_that_decide_nothing_are_named(
    changed: dict[str, Any], decides: list[str], fault: str
) -> None:
    """The second of two trials is changed; `...` leaves a key out."""
    first, (path, training) = trials({1e-5: [0.5], 3e-5: [0.6]})
    kept = {key: value for key, value in (training | changed).items() if value is not ...}
    with pytest.raises(PubmillError, match=fault):
        select([first, (path, kept)], decides)


@pytest.mark.parametrize(
    "content",
    [[], {"learning_rate": 1e-5}, {"chosen": None}]
    + [{"chosen": None, "failed": "nan", "considered": considered} for considered in (None, [], [3])],
)
def test_a_file_that_chooses_nothing_is_reported(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "selected.json"
    path.write_text(json.dumps(content))
    with pytest.raises(PubmillError, match=r'selected\.json has no "chosen" values'):
        read_choice(path)


def test_without_trials_there_is_nothing_to_select() -> None:
    with pytest.raises(PubmillError, match="no trials to select from; --trials needs at least one training"):
        select([], DECIDES)


@pytest.mark.parametrize("failed", [None, "nan"])
def test_a_choice_is_read_with_the_reason_where_there_is_none(tmp_path: Path, failed: str | None) -> None:
    """Then the recipe has the values of the first trial, without what was found of it."""
    made = trials({1e-2: [0.9], 3e-2: [0.95]})
    for _, training in made:
        training["failed"] = failed
    path = tmp_path / "selected.json"
    path.write_text(json.dumps(select(made, DECIDES)))
    rate = 3e-2 if failed is None else 1e-2
    assert read_choice(path) == ({"learning_rate": rate, "batch_size": 16}, failed)
