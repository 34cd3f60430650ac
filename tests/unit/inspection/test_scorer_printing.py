"""Files of predictions under every scorer: the table, JSON, and the scorer of a printed number."""

import json
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample, write_examples
from pubmill.inspection.scorer_printing import percent, rows, scores_by_scorer, which
from pubmill.metrics.scorers import score_by_all
from pubmill.specs import DatasetSpec
from pubmill.storage.files import write_json, write_jsonl_gz

SENTENCE = TokensExample(id="s", document=None, words=["a", "b", "c"], labels=["O", "B", "I"])
SCORES = score_by_all("tokens", "ner", [SENTENCE], [["O", "I", "I"]], None)
DATASET = DatasetSpec.model_construct(kind="tokens", task="ner", negative=None)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a results folder with one converted dataset."""
    folder = tmp_path / "datasets/ncbi-disease"
    write_examples(folder / "test.jsonl.gz", [SENTENCE])
    write_json(folder / "card.json", {"kind": "tokens"})
    return tmp_path


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    path = tmp_path / "predictions.jsonl.gz"
    write_jsonl_gz(path, [{"id": "s", "labels": ["O", "I", "I"]}])
    return path


def test_a_file_has_a_score_by_each_scorer(results: Path, predictions: Path) -> None:
    scores = scores_by_scorer(DATASET, results / "datasets/ncbi-disease/test.jsonl.gz", predictions)
    assert scores == SCORES


def test_a_split_without_examples_is_refused(tmp_path: Path, predictions: Path) -> None:
    write_examples(tmp_path / "none.jsonl.gz", [])
    with pytest.raises(PubmillError, match="has no examples"):
        scores_by_scorer(DATASET, tmp_path / "none.jsonl.gz", predictions)


def test_the_scorers_of_a_number_are_named_with_their_users() -> None:
    said = which(SCORES, "66.7").splitlines()
    assert said[0] == "1 scorer gives 66.7:"
    assert said[1].startswith("  word_labels_micro_o (66.67): seqeval's `accuracy_score`")
    assert len(said) == 2
    tied = which(SCORES, "100").splitlines()
    assert tied[0] == f"{len(tied) - 1} scorers give 100, and the number does not tell them apart:"
    assert any(line.startswith("  entity_f1 (100.00): conlleval") for line in tied)


def test_without_a_scorer_the_nearest_is_named() -> None:
    said = which(SCORES, "64.0")
    assert said.startswith("No scorer gives 64.0. The nearest is\n  word_labels_m")
    undefined = [one for one in SCORES if one.score is None]
    assert undefined and "none is defined" in which(undefined, "64.0")


def test_rows_are_json_values_and_undefined_scores_are_none() -> None:
    found = {row["scorer"]: row["score"] for row in json.loads(json.dumps(rows(SCORES)))}
    assert found["entity_f1"] == 1.0 and found["subtoken_f1"] is None
    assert (percent(0.12345), percent(None)) == ("12.35", "-")
