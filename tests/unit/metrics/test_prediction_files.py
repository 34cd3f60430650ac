"""Files of predictions: the order in which they are read, and what is refused without being quoted."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.metrics.records import read_predictions
from pubmill.storage.files import write_jsonl_gz
from tests.unit.metrics.toy_predictions import EXAMPLES, KINDS, QUOTED, REGRESSION, SPAN, rows_of


def test_predictions_come_in_the_order_of_the_examples(tmp_path: Path) -> None:
    for kind, (examples, predicted, _) in KINDS.items():
        write_jsonl_gz(tmp_path / "p.jsonl.gz", rows_of(kind)[::-1])
        if kind == "span":
            predicted = [[("pain", 0.5), ("", 0.5)]]
        assert read_predictions(tmp_path / "p.jsonl.gz", examples) == predicted


LABELS, SUBWORDS = "a list of BIO labels", "subword_labels, a list of BIO labels or X for each word"
OF_WORDS, SORTED = {"labels": ["B", "I", "O"]}, "a list of sorted, different labels"
ANSWERS, NUMBER, UNPLACED = "a list of answers", "a finite number", "unplaced, a list of types and numbers"
MENTIONS = "a list of mentions: first word, word after the last .up to 2., type"


@pytest.mark.parametrize(
    ("kind", "row", "expected"),
    [
        ("tokens", {}, "an object with exactly the keys id and labels"),
        ("tokens", {"labels": ["O"]}, "3 labels.*found 1"),
        ("tokens", {"labels": None}, LABELS), ("tokens", {"labels": ["O", "O", "X"]}, LABELS),
        ("tokens", OF_WORDS | {"subword_labels": [["B"]]}, "subword_labels of 3 words, found 1"),
        ("tokens", OF_WORDS | {"subword_labels": [["B"], ["I", "Y"], ["O"]]}, SUBWORDS),
        ("tokens", OF_WORDS | {"subword_labels": [["B"], "I", ["O"]]}, SUBWORDS),
        ("tokens", OF_WORDS | {"subword_labels": [["B"], [1], ["O"]]}, SUBWORDS),
        ("sequence", {"label": None}, "a label"), ("sequence", {"label": ""}, "a label"),
        ("sequence", {"label": 1}, "a label"),
        ("multilabel", {"labels": ["y", "x"]}, SORTED), ("multilabel", {"labels": ["x", "x"]}, SORTED),
        ("multilabel", {"labels": QUOTED}, SORTED), ("multilabel", {"labels": [1]}, SORTED),
        ("regression", {"score": float("nan")}, NUMBER), ("regression", {"score": True}, NUMBER),
        ("regression", {"score": QUOTED}, NUMBER),
        ("span", {"answers": []}, ANSWERS), ("span", {"answers": [{"text": QUOTED}]}, ANSWERS),
        ("span", {"answers": [{"text": QUOTED, "probability": 1.0001}]}, ANSWERS),
        ("span", {"answers": [{"text": QUOTED, "probability": -1e-9}]}, ANSWERS),
        ("span", {"answers": [{"text": QUOTED, "probability": True}]}, ANSWERS),
        ("span", {"answers": [{"text": None, "probability": 0.1}]}, ANSWERS),
        ("span", {"answers": [{"text": QUOTED, "probability": p} for p in (0.1, 0.2)]},
         "the most probable answer first"),
        *(("mentions", {"mentions": one}, MENTIONS)
          for one in ("x", ["x"], [[0, 1]], [[0, 1, "x", 1]], [[0, True, "x"]], [[0, 1, 2]], [[0, 3, "x"]],
                      [[1, 1, "x"]], [[-1, 1, "x"]])),
        ("mentions", {"mentions": [[1, 2, "x"], [0, 1, "x"]]}, "sorted and unique"),
        ("mentions", {"mentions": [[0, 1, "x"], [0, 1, "x"]]}, "sorted and unique"),
        *(("mentions", {"mentions": [], "unplaced": one}, UNPLACED)
          for one in ([["x", 0]], [["x", 3]], [["x", True]], [[1, 1]], "x")),
    ],
)  # fmt: skip
def test_misshapen_predictions_are_refused_and_not_quoted(
    tmp_path: Path, kind: str, row: dict[str, Any], expected: str
) -> None:
    path, examples = tmp_path / "p.jsonl.gz", KINDS[kind][0]
    rows = [*rows_of(kind)[:-1], {"id": examples[-1].id, **row}]
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    with pytest.raises(PubmillError, match=rf"p\.jsonl\.gz:{len(rows)}: .*{expected}") as caught:
        read_predictions(path, examples)
    assert QUOTED not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_of_another_kind_are_refused(tmp_path: Path, kind: str) -> None:
    examples: list[Example] = KINDS[kind][0]
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": examples[0].id, "other": QUOTED}])
    with pytest.raises(PubmillError, match=f":1: expected .* keys id and {KINDS[kind][2]}") as caught:
        read_predictions(tmp_path / "p.jsonl.gz", examples)
    assert QUOTED not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "fault"),
    [(QUOTED, "its id isn't one of the examples'"), (7, "its id isn't one of the examples'"),
     ("dev-1", "the id 'dev-1' isn't one"), ("r0", "r0 already has a prediction")],
)  # fmt: skip
def test_other_ids_are_refused_and_texts_not_quoted(tmp_path: Path, name: Any, fault: str) -> None:
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": "r0", "score": 1}, {"id": name, "score": 1}])
    with pytest.raises(PubmillError, match=f":2: {fault}") as caught:
        read_predictions(tmp_path / "p.jsonl.gz", REGRESSION)
    assert QUOTED not in str(caught.value)


def test_probabilities_may_be_above_1_by_the_rounding_of_sums(tmp_path: Path) -> None:
    """In single precision, a sum of probabilities may be slightly above 1."""
    for probability in (0, 1, 1.00001):
        lines = [{"id": "q1", "answers": [{"text": "pain", "probability": probability}]}]
        write_jsonl_gz(tmp_path / "p.jsonl.gz", lines)
        assert read_predictions(tmp_path / "p.jsonl.gz", SPAN) == [[("pain", probability)]]


def test_the_first_five_missing_predictions_are_named(tmp_path: Path) -> None:
    examples = [replace(EXAMPLES[0], id=str(number)) for number in range(7)]
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": "6", "labels": ["O", "O"]}])
    with pytest.raises(PubmillError, match="6 of 7 examples have no prediction, .* 0, 1, 2, 3, 4; run the"):
        read_predictions(tmp_path / "p.jsonl.gz", examples)
