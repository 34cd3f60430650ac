"""Parts of differences: lists, costs, devices, pairs of names, and documents that are right in some runs."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import RegressionExample, write_examples
from pubmill.inspection.diff.differences import (
    Differences,
    RecipeDifferences,
    _listed,
    _together,
    _with_count,
    as_json,
)
from pubmill.inspection.diff.run_differences import Cost, FinishedRuns, Flips, _device, _examples_file, flips
from pubmill.inspection.diff.sides import Context, _commit, _recipes, paired, side_of
from pubmill.metrics.contributions import read_items, write_items
from pubmill.metrics.records import read_record
from pubmill.specs import Specs
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.storage.files import sha256
from pubmill.storage.result_paths import RunKey
from tests.conftest import ROOT
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


def test_records_outside_of_a_results_folder_name_no_examples(tmp_path: Path) -> None:
    path = add_run(tmp_path, "no-pretraining", 1, "11010101")
    record = read_record(path)
    side = FinishedRuns([path], [record], 0)
    assert _examples_file(side) == tmp_path / f"datasets/{DATASET}/test.jsonl.gz"
    copied = FinishedRuns([tmp_path / "copy/seed-1.json"], [record], 0)
    assert _examples_file(copied) is None
    assert _examples_file(FinishedRuns([path], [record.model_copy(update={"data_sha256": "e"})], 0)) is None


def test_scores_of_pairs_of_texts_are_not_right_or_wrong(tmp_path: Path) -> None:
    texts: dict[str, Any] = {"text": "a", "text_pair": "b"}
    gold = [RegressionExample(id=f"e{n}", document=None, score=float(n), **texts) for n in range(3)]
    sides = []
    for name in ("one", "two"):
        results = tmp_path / name
        file = results / f"datasets/{DATASET}/test.jsonl.gz"
        write_examples(file, gold)
        path = add_run(results, "no-pretraining", 1, "11010101")
        found = read_record(path)
        items = read_items(path.with_name("seed-1.items.npz"))
        write_items(path.with_name("seed-1.items.npz"), items._replace(kind="regression"))
        sides.append(FinishedRuns([path], [found.model_copy(update={"data_sha256": sha256(file)})], 0))
    assert flips(*sides) == Flips(why="predictions are numbers, of which none is simply right")


def test_a_side_without_a_finished_run_has_no_flips(tmp_path: Path) -> None:
    path = add_run(tmp_path, "no-pretraining", 1, "11010101")
    made, none = FinishedRuns([path], [read_record(path)], 0), FinishedRuns([], [], 1)
    for sides in ((made, none), (none, made), (none, none)):
        assert flips(*sides).why == "no run without a failure on one side"


@pytest.mark.parametrize("named", ["--all", "-1", "no-such-commit"])
def test_options_of_git_and_unknown_names_are_no_commits(root: Path, named: str) -> None:
    assert _commit(named, root) is None


def test_runs_of_a_protocol_without_a_spec_have_no_recipe_and_keep_their_model_and_dataset(
    full_specs: Specs,
) -> None:
    graph = Graph(Study(study="x", title="x", scale="full", tables=()), full_specs)
    runs = [
        RunKey("gone", "biobert-base", "bc2gm", "standard"),
        RunKey("gone", "nobody", "bc2gm", "standard"),
    ]
    found = [names for names, _ in _recipes(graph, runs)]
    assert found == [("model", "biobert-base"), ("dataset", "bc2gm")]
    known = [names for names, _ in _recipes(graph, [runs[0]._replace(protocol="blurb")])]
    assert known == [("fine-tuning", "blurb", *runs[0][1:]), ("protocol", "blurb"), *found]


def test_a_commit_without_specs_cannot_be_compared(specs: Path) -> None:
    root = specs.parent
    (root / "README").touch()
    for name in ("studies", "config.yaml"):
        (root / name).symlink_to(ROOT / name)
    git = ["git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["add", "README"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    with pytest.raises(PubmillError, match="HEAD: the commit has no specs, studies and config.yaml, so noth"):
        side_of("HEAD", Context(root, "demo", ()))
