"""Parts of differences: lists, costs, devices, pairs of names, and documents that are right in some runs."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.inspection.diff.differences import Differences, _listed, _together, _with_count, as_json
from pubmill.inspection.diff.recipe_differences import RecipeDifferences
from pubmill.inspection.diff.run_differences import Cost, _device
from pubmill.inspection.diff.sides import paired
from tests.unit.inspection.test_diff import DATASET, PROTOCOL, add_run, diff, text_of


@pytest.mark.parametrize(
    ("names", "most", "text"),
    [
        ("abcde", 5, "a, b, c, d, e"), ("abcdef", 5, "a, b, c, d, e and 1 more"), ("abc", 1, "a and 2 more"),
        ("", 5, ""),
    ],
)  # fmt: skip
def test_long_lists_are_cut(names: str, most: int, text: str) -> None:
    assert _listed(names, most) == text


def test_recipes_of_one_side_are_named_and_no_others() -> None:
    recipes = RecipeDifferences([], 2, [("models", "bert")], [])
    text = text_of(Differences("left", "right", recipes, [], [], [], []))
    assert "Only A has models/bert" in text and "Only B" not in text


def test_documents_are_counted_and_listed() -> None:
    assert [_with_count(ids) for ids in ((), ("d1",), ("d1", "d2"))] == ["0", "1: d1", "2: d1, d2"]


def test_costs_are_added_up_if_all_have_tokens() -> None:
    one, other = Cost(2, 20.0, 1000, ("b", "a")), Cost(1, 5.0, 7, ("a", "c"))
    assert _together([one, other]) == Cost(3, 25.0, 1007, ("a", "b", "c"))
    assert _together([one, other._replace(tokens=None)]).tokens is None


@pytest.mark.parametrize(
    ("hardware", "text"),
    [
        ({"gpus": [{"name": "A100"}, {"name": "H100"}, {"name": "A100"}]}, "2 x A100, 1 x H100"),
        ({"gpus": ["T4"]}, "1 x T4"),
        ({"gpus": [{"memory": 3}]}, "1 x {'memory': 3}"),
        ({"gpus": [], "cpu": "EPYC", "cores": 4}, "EPYC, 4 cores"),
        ({}, "unknown processor, ? cores"),
    ],
)
def test_devices_in_words(hardware: dict[str, Any], text: str) -> None:
    record: Any = SimpleNamespace(hardware=hardware)
    assert _device(record) == text


def test_kinds_of_names_are_paired_apart() -> None:
    runs = [("p", "a", "x", "s"), ("p", "a", "x", "t")]
    assert paired(runs[:1], runs[1:]).both == [(runs[0], runs[1])]
    assert paired(runs, runs[1:]) == ([(runs[1], runs[1])], [runs[0]], [])
    recipes = [("dataset", "a"), ("model", "a"), ("model", "b")]
    found = paired(recipes[:2], recipes[1:])
    assert found == ([(recipes[1], recipes[1])], [recipes[0]], [recipes[2]])
    assert paired([("dataset", "a")], [("dataset", "b")]).both == [(("dataset", "a"), ("dataset", "b"))]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """One folder with two seeds, of which one is right on d2 and d4, and one folder that is always right."""
    for seed, predicted in ((1, "11010101"), (2, "11001110")):
        add_run(tmp_path / "one", "no-pretraining", seed, predicted)
    add_run(tmp_path / "two", "no-pretraining", 1, "11010101")
    add_run(tmp_path / "two", "pubmedbert-base", 1, "11010101")
    return tmp_path / "one", tmp_path / "two"


def test_half_of_the_runs_are_not_enough_to_be_right(folders: tuple[Path, Path]) -> None:
    found = diff(*folders)
    [flipped] = found.flips
    assert flipped.gained == ("d2", "d3", "d4") and flipped.lost == ()
    [back] = diff(*reversed(folders)).flips
    assert back.lost == flipped.gained and back.gained == ()
    assert found.right_only == [(PROTOCOL, "pubmedbert-base", DATASET, "standard")]
    text = text_of(found)
    assert "3: d2, d3, d4" in text and "Runs with records of B only: blurb/pubmedbert-base" in text
    assert "Runs with records of A only" not in text and '"a_only": []' in as_json(found)


def test_runs_on_other_examples_have_an_interval_around_their_difference(tmp_path: Path) -> None:
    for seed in (1, 2):
        add_run(tmp_path / "one", "no-pretraining", seed, "00101010")
        add_run(tmp_path / "two", "no-pretraining", seed, "11010101", data_sha256="e" * 64)
    [one] = diff(tmp_path / "one", tmp_path / "two").runs
    assert one.p is None and one.interval is not None and one.scores == pytest.approx((0, 100))
    assert one.difference == pytest.approx(100) and one.interval == pytest.approx((100, 100))
    [other] = diff(tmp_path / "two", tmp_path / "one").runs
    assert other.difference == pytest.approx(-100) and other.interval == pytest.approx((-100, -100))
