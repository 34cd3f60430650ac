"""Finished runs split by what their items share with training, from stored predictions."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.annotation.examples import Entity, SequenceExample, TokensExample, write_examples
from pubmill.errors import PubmillError
from pubmill.metrics.records import write_record
from pubmill.metrics.training_overlap import Counts
from pubmill.storage.files import write_jsonl_gz
from pubmill.tables.overlap_of_runs import overlaps_of_runs
from pubmill.tables.overlap_text import as_text
from tests.unit.toy_tables import record

RUNS = "runs/blurb/bert/bc2gm/standard"
COUNTS = {"gold": 3, "predicted": 2, "correct": 1, "examples": 2}


def sentence(name: str, words: str, labels: str) -> TokensExample:
    return TokensExample(id=name, document=None, words=words.split(), labels=labels.split())


def put_run(results: Path, seed: int, dataset: str = "bc2gm", **changes: Any) -> Path:
    """One run: of three mentions, a known one is found, and one of the new ones in part."""
    folder = results / "datasets" / dataset
    write_examples(folder / "train.jsonl.gz", [sentence("1", "IL-2 acts", "B O")])
    write_examples(folder / "dev.jsonl.gz", [sentence("1", "COX 1", "B I")])
    test = [sentence("1", "IL-2 and COX 1", "B O B I"), sentence("2", "asthma", "B")]
    write_examples(folder / "test.jsonl.gz", test)
    run = results / RUNS.replace("bc2gm", dataset)
    lines = [{"id": "1", "labels": ["B", "O", "B", "O"]}, {"id": "2", "labels": ["O"]}]
    (run / "final").mkdir(parents=True, exist_ok=True)
    write_jsonl_gz(run / f"final/seed-{seed}.predictions.jsonl.gz", lines)
    values = {"counts": COUNTS, "recipe": {"task": "tokens"}} | changes
    write_record(run / f"final/seed-{seed}.json", record("bert", dataset, seed, 0.4, **values))
    (run / f"final/seed-{seed}.training.json").write_text("{}")
    return run


def test_runs_are_added_up(tmp_path: Path) -> None:
    put_run(tmp_path, 1)
    [found] = overlaps_of_runs([put_run(tmp_path, 2)], ("train",))
    assert (found.dataset, found.runs) == ("bc2gm", 2)
    mentions = found.parts["mentions"]
    assert mentions["verbatim"] == Counts(2, 2, 2) and mentions["new"] == Counts(4, 2, 0)
    assert found.parts["documents"]["document not known"] == Counts(6, 4, 2)
    text = as_text(found).splitlines()
    assert text[0] == "bc2gm, 2 runs, compared with train"
    assert text[3].split() == ["verbatim", "2", "33.3", "%", "2", "2", "100.00", "100.00", "100.00"]
    assert text[7].split() == ["together", "6", "100.0", "%", "4", "2", "50.00", "33.33", "40.00"]


def test_dev_can_be_training_too(tmp_path: Path) -> None:
    [found] = overlaps_of_runs([put_run(tmp_path, 1)], ("train", "dev"))
    assert found.parts["mentions"]["verbatim"] == Counts(2, 1, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": {**COUNTS, "gold": 4}}, r"mentions are \(3, 2, 1\), but \(4, 2, 1\) in the record"),
        ({"recipe": {"task": "regression"}}, "its examples are regression, not labelled words or relations"),
        ({"counts": None, "metrics": None, "failed": "nan"}, "the run has no score: nan; leave it out"),
    ],
)
def test_runs_that_cannot_be_split(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    run = put_run(tmp_path, 1, **changes)
    with pytest.raises(PubmillError, match=message):
        overlaps_of_runs([run], ("train",))


def test_folders_of_several_datasets_are_split_apart(tmp_path: Path) -> None:
    runs = [put_run(tmp_path, 1), put_run(tmp_path, 1, "jnlpba")]
    found = overlaps_of_runs(runs, ("train",))
    assert [(one.dataset, one.runs) for one in found] == [("bc2gm", 1), ("jnlpba", 1)]


def test_relations_are_split_by_their_arguments(tmp_path: Path) -> None:
    def example(name: str, label: str) -> SequenceExample:
        entities = [Entity(start=0, end=7, type="A"), Entity(start=8, end=11, type="B")]
        return SequenceExample(id=name, document="7", text="aspirin COX", label=label, entities=entities)

    changes: dict[str, Any] = {"counts": {"gold": 1, "predicted": 2, "correct": 1, "examples": 2}}
    run = put_run(tmp_path, 1, recipe={"task": "sequence", "negative": "no"}, **changes)
    folder = tmp_path / "datasets/bc2gm"
    write_examples(folder / "train.jsonl.gz", [example("1", "no")])
    write_examples(folder / "test.jsonl.gz", [example("1", "yes"), example("2", "no")])
    lines = [{"id": "1", "label": "yes"}, {"id": "2", "label": "yes"}]
    write_jsonl_gz(run / "final/seed-1.predictions.jsonl.gz", lines)
    [found] = overlaps_of_runs([run], ("train",))
    assert found.parts["arguments"]["pair"] == Counts(1, 2, 1)
    assert found.parts["documents"]["document in training"] == Counts(1, 2, 1)


def test_a_folder_without_records(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="has no records of final runs; expected a folder"):
        overlaps_of_runs([tmp_path], ("train",))
