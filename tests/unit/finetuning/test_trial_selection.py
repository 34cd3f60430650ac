"""The choice of a grid point from trials."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.finetuning.trial_selection import read_choice, select
from pubmill.recipes.finetuning import ChoiceRecipe
from pubmill.recipes.reading import read

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
                "data_sha256": {"train": "a", "dev": "b"},
                "model": model,
                "seed": seed,
                "dev": {"best": value, "best_step": round(100 * value)},
                "failed": None,
            }
            made.append((Path(f"{rate}/{model}-{seed}.training.json"), training))
    return made


def test_the_best_mean_over_models_and_seeds_is_chosen() -> None:
    made = select(trials({1e-5: [0.9, 0.1], 3e-5: [0.6, 0.7], 5e-5: [0.5, 0.6]}), DECIDES)
    assert made["chosen"] == {"learning_rate": 3e-5, "batch_size": 16}
    assert made["mean_dev"] == pytest.approx(0.65)
    assert [point["learning_rate"] for point in made["considered"]] == [1e-5, 3e-5, 5e-5]


def test_of_equals_the_first_in_the_grid_is_chosen() -> None:
    made = select(trials({3e-5: [0.5, 0.5], 1e-5: [0.5, 0.5]}), DECIDES)
    assert made["chosen"] == {"learning_rate": 3e-5, "batch_size": 16}


def test_any_key_can_be_searched_lists_and_nulls_too() -> None:
    made = trials({1e-5: [0.5], 2e-5: [0.9], 3e-5: [0.7]})
    for (_, training), sizes, layers in zip(made, ([8], [8, 8], []), (None, 3, None), strict=True):
        training["recipe"].update(learning_rate=1e-5, head_sizes=sizes, frozen_layers=layers)
    chosen = select(made, ["frozen_layers", "head_sizes"])["chosen"]
    assert chosen == {"frozen_layers": 3, "head_sizes": [8, 8]}


def test_the_steps_of_the_chosen_point_are_the_mean_of_its_trials() -> None:
    made = trials({1e-5: [0.9, 0.4, 0.9], 5e-5: [0.1, 0.1, 0.1]})
    chosen = select(made, ["learning_rate", "stop_after"])["chosen"]
    assert chosen == {"learning_rate": 1e-5, "stop_after": 73}
    only = trials({1e-5: [0.9, 0.4, 0.9]})
    assert select(only, ["stop_after"])["chosen"] == {"stop_after": 73}
    assert select(trials({1e-5: [0.0]}), ["stop_after"])["chosen"] == {"stop_after": 1}


def test_a_point_with_a_failed_trial_is_not_chosen_but_named() -> None:
    made = trials({1e-5: [0.5, 0.5], 1e-2: [0.9, 0.9]})
    made[-1][1].update(failed="nan", dev={"best": None})
    selected = select(made, DECIDES)
    assert selected["chosen"] == {"learning_rate": 1e-5, "batch_size": 16}
    assert selected["considered"][1] == {
        "learning_rate": 1e-2, "batch_size": 16, "mean_dev": 0.9, "trials": 2, "failed": 1,
    }  # fmt: skip


def test_where_every_point_has_failed_trials_the_fewest_count_first() -> None:
    made = trials({1e-5: [0.2, 0.4, 0.4], 3e-5: [0.3, 0.7, 0.1], 1e-2: [0.9, 0.9, 0.9]})
    for place in (0, 5, 6, 7):
        made[place][1].update(failed="nan", dev={"best": None, "best_step": None})
    selected = select(made, DECIDES)
    assert selected["chosen"] == {"learning_rate": 3e-5, "batch_size": 16} and selected["failed"] is None
    assert [point["failed"] for point in selected["considered"]] == [1, 1, 2]
    means = [point["mean_dev"] for point in selected["considered"]]
    assert means == pytest.approx([0.4, 0.5, 0.9]) and selected["mean_dev"] == means[1]


def test_the_steps_of_the_only_point_are_those_of_the_trials_that_did_not_fail() -> None:
    made = trials({2e-3: [0.9, 0.4, 0.8]})
    made[0][1].update(failed="nan")  # it diverged after a best epoch
    selected = select(made, ["stop_after"])
    assert selected["chosen"] == {"stop_after": 60} and selected["mean_dev"] == pytest.approx(0.6)
    assert selected["considered"] == [{"mean_dev": pytest.approx(0.6), "trials": 3, "failed": 1}]


def test_constant_predictions_have_a_dev_score_and_take_part() -> None:
    made = trials({1e-5: [0.5], 3e-5: [0.6]})
    made[1][1]["failed"] = "constant predictions"
    assert select(made, DECIDES)["chosen"] == {"learning_rate": 3e-5, "batch_size": 16}


@pytest.mark.parametrize("reason", ["nan", "my-bert: the weights of 3 parameters are missing"])
def test_where_all_trials_failed_nothing_is_chosen(reason: str) -> None:
    made = trials({1e-2: [0.9, 0.9], 3e-2: [0.9, 0.9]})
    for _, training in made:
        training.update(failed=reason, dev={"best": None, "best_step": None})
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
    ("content", "fault"),
    [
        ([], 'has no "chosen" values'), ({"learning_rate": 1e-5}, 'has no "chosen" values'),
        ({"chosen": None}, 'has no "chosen" values'),
        ({"chosen": None, "failed": "nan", "considered": None}, 'has no "chosen" values'),
        ({"chosen": None, "failed": "nan", "considered": []}, 'has no "chosen" values'),
        ({"chosen": None, "failed": "nan", "considered": [3]}, 'has no "chosen" values'),
    ],
)  # fmt: skip
def test_a_file_that_chooses_nothing_is_reported(tmp_path: Path, content: Any, fault: str) -> None:
    path = tmp_path / "selected.json"
    path.write_text(json.dumps(content))
    with pytest.raises(PubmillError, match=rf"selected\.json {fault}"):
        read_choice(path)


@pytest.mark.parametrize(
    ("recipe", "reported"),
    [
        ('{"by": "test", "decides": ["learning_rate"]}', "by: expected 'dev' .found 'test'"),
        ('{"by": "dev", "decides": []}', "decides must name at least one key"),
    ],
)
def test_the_program_refuses_other_recipes(recipe: str, reported: str) -> None:
    with pytest.raises(PubmillError, match=reported):
        read(ChoiceRecipe, recipe)
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
