"""Recipes and courses of the runs in a report."""

import re
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.report import run_trainings
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up
from tests.unit.report.toy_reports import put_training, training

FOLDER = "runs/blurb/{}/bc2gm/standard/final"


def notes(*made: dict[str, Any]) -> list[run_trainings.TrainingNotes]:
    return [run_trainings.TrainingNotes.model_validate(one) for one in made]


def numbers(drawn: str) -> list[int]:
    """The coordinates of a path, the first point and then the steps."""
    return list(map(int, re.findall(r"-?\d+", drawn)))


def test_recipes_are_numbered_once_and_show_what_is_unusual() -> None:
    usual = {"learning_rate": 1e-5, "epochs": 3, "crf": False, "dummies": {"types": {"GENE": "@GENE$"}}}
    other = usual | {"epochs": 5, "crf": True}
    found = run_trainings.summarise(
        {
            FOLDER.format("a"): notes(training(usual, [0.5], [1.0]), training(usual, [0.5], [1.0])),
            FOLDER.format("b"): notes(training(other, [0.5], [1.0])),
            FOLDER.format("c"): notes(training(usual, [0.5], [1.0])),
        }
    )
    assert found.usual == {
        "learning_rate": "1e-05", "epochs": "3", "crf": "false", "dummies": '{"types": {"GENE": "@GENE$"}}',
    }  # fmt: skip
    assert found.recipes == ({}, {"epochs": "5", "crf": "true"})
    assert [one.recipes for one in found.folders.values()] == [(1,), (2,), (1,)]
    assert [one.place for one in found.folders.values()] == ["c1", "c2", "c3"]
    assert found.folders[FOLDER.format("b")].folder == "blurb/b/bc2gm/standard"


LOST = training({}, [], [0.5]) | {"loss_by_epoch": [None, None]}
RISING = training({}, [0.2, 0.6], [1.0, 0.5])
WITHOUT_EPOCH = training({}, [0.2, 0.6], [])
WITHOUT_EPOCH["dev"]["best_epoch"] = None


@pytest.mark.parametrize(("runs", "text"), [
    ([RISING, training({}, [0.4, 0.2], [0.8, 0.3])],
     "dev 40.00 to 60.00, epoch 1 to 2; loss 0.9 to 0.4, 2 epochs"),
    ([RISING, LOST], "dev 60.00, epoch 2; loss 1 to 0.5, 2 epochs"),
    ([training({}, [], [1.0, 0.5])], "loss 1 to 0.5, 2 epochs"),
    ([training({}, [], [0.5])], "loss 0.5, 1 epoch"), ([training({}, [0.2, 0.6], [])], "dev 60.00, epoch 2"),
    ([WITHOUT_EPOCH], "dev 60.00"), ([training({}, [], [])], None),
])  # fmt: skip
def test_a_course_is_the_mean_of_the_runs_and_names_what_there_is(
    runs: list[dict[str, Any]], text: str | None
) -> None:
    found = run_trainings.course(notes(*runs), run_trainings.MOST_POINTS)
    assert (found and found.text) == text


def test_nothing_is_drawn_of_supplied_predictions() -> None:
    supplied = training({"system": {"name": "ner"}}, [], [])
    del supplied["loss_by_epoch"]
    found = run_trainings.summarise({FOLDER.format("p"): notes(supplied)})
    [folder] = found.folders.values()
    assert folder.recipes == () and folder.course is None and found.recipes == ()


def test_a_long_course_is_thinned_and_the_more_the_more_folders_there_are() -> None:
    scores = [index / 100 for index in range(100)]
    long = notes(training({}, scores, scores))
    [few] = run_trainings.summarise({FOLDER.format("a"): long}).folders.values()
    many = run_trainings.summarise({FOLDER.format(index): long for index in range(2000)}).folders[
        FOLDER.format(7)
    ]
    assert few.course and len(numbers(few.course.dev)) == 2 * run_trainings.MOST_POINTS
    assert many.course and len(numbers(many.course.dev)) == 2 * run_trainings.FEWEST_POINTS


@pytest.mark.parametrize("values", [[0.5, 0.5], [0.1, 0.9, 0.4], [-0.2, 0.3]])
def test_a_path_stays_in_its_figure(values: list[float]) -> None:
    points = [((i + 1) / len(values), value) for i, value in enumerate(values)]
    x, y, *moves = numbers(run_trainings.path(points))
    xs, ys = [*accumulate(moves[::2], initial=x)], [*accumulate(moves[1::2], initial=y)]
    assert len(xs) == len(values) and xs == sorted(xs) and xs[-1] == 120
    assert all(2 <= y <= 34 for y in ys)
    assert run_trainings.path(points[:1]) == ""
    assert run_trainings.path([(0.5, 0.3), (1.0, 0.3)]) == "M60 34l60 0", (
        "a line without change is at the bottom"
    )


def test_notes_are_read_beside_the_records(tmp_path: Path, table: Table) -> None:
    record = made_up.paths("ours", "bc2gm")[0]
    put_training(tmp_path, record, training({"learning_rate": 0.1}, [0.5], [1.0]))
    found = run_trainings.read_trainings([table, table], tmp_path)
    assert set(found.folders) == {FOLDER.format("bert"), FOLDER.format("ours")}
    assert found.recipes == ({},) and found.folders[FOLDER.format("bert")].course is None
    put_training(tmp_path, record, {"recipe": 3})
    with pytest.raises(PubmillError, match=r"seed-1.training.json is not a TrainingNotes:(.|\n)*dev"):
        run_trainings.read_trainings([table], tmp_path)
