"""Records on disk, and why tables do not show some of them."""

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.stages.record_status import NO_ITEMS, OTHER_EXAMPLES, OTHER_RECIPES, OTHER_WEIGHTS, UNREADABLE
from pubmill.storage.checksums import folder_sha256
from pubmill.storage.files import sha256, write_json
from pubmill.storage.model_folders import CONFIG, WEIGHTS
from pubmill.storage.result_paths import RunKey
from tests.unit.toy_studies import GraphOf

RUN = RunKey("blurb", "no-pretraining", "bc2gm", "standard")
RECORD = "runs/blurb/no-pretraining/bc2gm/standard/final/seed-1.json"


@pytest.fixture
def graph(demo_specs: Specs, graph_of: GraphOf) -> Graph:
    """A study with the record of one run, its examples and its model."""
    made = graph_of(demo_specs)
    for split in ("train", "test"):
        write(Path(made.paths.examples("bc2gm", split)), split)
    model = Path(made.paths.model("no-pretraining"))
    write(model / WEIGHTS, "weights")
    write(model / CONFIG, "{}")
    write(Path(made.paths.contributions(made.paths.at(RECORD))), "")
    write_record(made)
    return made


def write(path: Path, text: str, seconds: int = 0) -> None:
    """Write a file, that many seconds after the others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (1_000_000 + seconds,) * 2)


def write_record(graph: Graph, **changes: Any) -> None:
    examples = {split: sha256(Path(graph.paths.examples("bc2gm", split))) for split in ("train", "test")}
    values = {
        **dict(zip(("protocol", "model", "dataset", "setting"), RUN, strict=True)),
        "made_by": graph.records.recipe(RUN, 1).made_by, "split": "test", "data_sha256": examples["test"],
        "trained_on_sha256": {"train": examples["train"]},
        "model_sha256": folder_sha256(Path(graph.paths.model("no-pretraining")), graph.digests.of),
    }  # fmt: skip
    path = Path(graph.paths.at(RECORD))
    write_json(path, values | changes)
    os.utime(path, (1_000_000, 1_000_000))


def test_a_record_of_the_current_recipes_is_shown_also_if_files_were_written_again(graph: Graph) -> None:
    assert graph.records.stale(RECORD) is None
    write(Path(graph.paths.examples("bc2gm", "test")), "test", 5)
    write(Path(graph.paths.model("no-pretraining"), WEIGHTS), "weights", 5)
    assert graph.records.stale(RECORD) is None


def test_a_record_that_is_damaged_or_of_other_recipes_or_of_a_run_that_is_no_longer_possible(
    graph: Graph,
) -> None:
    path = Path(graph.paths.at(RECORD))
    gone = RECORD.replace("blurb", "nothing")
    write(Path(graph.paths.at(gone)), path.read_text(encoding="utf-8"))
    assert graph.records.stale(gone) == OTHER_RECIPES
    write_record(graph, made_by="another")
    assert graph.records.stale(RECORD) == OTHER_RECIPES
    path.write_text("{", encoding="utf-8")
    assert graph.records.stale(RECORD) == UNREADABLE
    path.write_text("[]", encoding="utf-8")
    assert graph.records.stale(RECORD) == OTHER_RECIPES


def test_a_record_without_contributions_of_its_documents(graph: Graph) -> None:
    Path(graph.paths.contributions(graph.paths.at(RECORD))).unlink()
    assert graph.records.stale(RECORD) == NO_ITEMS


@pytest.mark.parametrize(
    ("changed", "stale"), [("train", OTHER_EXAMPLES), ("test", OTHER_EXAMPLES), (WEIGHTS, OTHER_WEIGHTS)]
)
def test_examples_or_weights_that_changed_after_the_record(graph: Graph, changed: str, stale: str) -> None:
    model, paths = Path(graph.paths.model("no-pretraining"), WEIGHTS), graph.paths
    file = model if changed == WEIGHTS else Path(paths.examples("bc2gm", changed))
    write(file, "other", 0)
    assert graph.records.stale(RECORD) is None, "older than the record, which names its own digest"
    write(file, "other", 1)
    assert graph.records.stale(RECORD) == stale
    file.unlink()
    assert graph.records.stale(RECORD) is None, "what is missing is not compared"


def test_the_record_of_supplied_predictions_needs_no_model_of_the_study(graph: Graph) -> None:
    record = "runs/off-the-shelf/scispacy-bc5cdr/bc2gm/as-it-is/final/seed-1.json"
    values = {
        "protocol": "off-the-shelf", "model": "scispacy-bc5cdr", "dataset": "bc2gm", "setting": "as-it-is",
        "made_by": graph.records.recipe(graph.supplied.run("scispacy-bc5cdr", "bc2gm")[0]).made_by,
        "split": "test", "data_sha256": "x", "trained_on_sha256": {}, "model_sha256": "x",
    }  # fmt: skip
    write_json(Path(graph.paths.at(record)), values)
    write(Path(graph.paths.contributions(graph.paths.at(record))), "")
    assert graph.records.stale(record) is None


def test_the_digest_of_records_is_that_of_their_paths_and_contents(graph: Graph) -> None:
    absent = RECORD.replace("seed-1", "seed-2")
    line = f"{RECORD} {sha256(Path(graph.paths.at(RECORD)))}\n"
    assert graph.records.at_hand([RECORD, absent]) == [RECORD]
    assert graph.records.digest_of([RECORD, absent]) == hashlib.sha256(line.encode()).hexdigest()
    assert graph.records.digest_of([absent]) == ""
