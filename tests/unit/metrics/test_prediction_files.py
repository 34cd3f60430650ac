"""Files of predictions: the order in which they are read, and what is refused without being quoted."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example, SpanExample
from pubmill.metrics.records import read_predictions
from pubmill.storage.files import write_jsonl_gz
from tests.unit.metrics.toy_predictions import EXAMPLES, KINDS, QUOTED, REGRESSION, rows_of


def test_predictions_come_in_the_order_of_the_examples(tmp_path: Path) -> None:
    for kind, (examples, predicted, _) in KINDS.items():
        write_jsonl_gz(tmp_path / "p.jsonl.gz", rows_of(kind)[::-1])
        if kind == "span":
            predicted = [[("pain", 0.5), ("", 0.5)]]
        assert read_predictions(tmp_path / "p.jsonl.gz", examples) == predicted


@pytest.mark.parametrize(
    ("kind", "value", "copied"),
    [
        ("sequence", None, "expected a label"),
        ("sequence", "", "expected a label"),
        ("sequence", 1, "expected a label"),
        ("multilabel", ["y", "x"], "expected a list of sorted, different labels"),
        ("multilabel", ["x", "x"], "expected a list of sorted, different labels"),
        ("multilabel", QUOTED, "expected a list of sorted, different labels"),
        ("multilabel", [1], "expected a list of sorted, different labels"),
        ("regression", float("nan"), "not a JSON|expected a finite number"),
        ("regression", True, "expected a finite number"),
        ("regression", QUOTED, "expected a finite number"),
        ("span", [], "expected a list of answers"),
        ("span", [{"text": QUOTED}], "expected a list of answers"),
        ("span", [{"text": QUOTED, "probability": 1.5}], "expected a list of answers"),
        ("span", [{"text": QUOTED, "probability": -0.1}], "expected a list of answers"),
        ("span", [{"text": None, "probability": 0.1}], "expected a list of answers"),
        (
            "span",
            [{"text": QUOTED, "probability": 0.1}, {"text": "", "probability": 0.2}],
            "expected the most probable answer first",
        ),
    ],
)
def test_misshapen_predictions_are_refused_and_not_quoted(
    tmp_path: Path, kind: str, value: Any, copied: str
) -> None:
    path, (examples, _, key) = tmp_path / "p.jsonl.gz", KINDS[kind]
    rows = [*rows_of(kind)[:-1], {"id": examples[-1].id, key: value}]
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    with pytest.raises(PubmillError, match=rf"p\.jsonl\.gz:{len(rows)}: .*({copied})") as caught:
        read_predictions(path, examples)
    assert QUOTED not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_of_another_kind_are_refused(tmp_path: Path, kind: str) -> None:
    examples: list[Example] = KINDS[kind][0]
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": examples[0].id, "other": QUOTED}])
    with pytest.raises(PubmillError, match=f":1: expected .* keys id and {KINDS[kind][2]}") as caught:
        read_predictions(tmp_path / "p.jsonl.gz", examples)
    assert QUOTED not in str(caught.value)


def test_ids_that_look_like_text_are_not_quoted(tmp_path: Path) -> None:
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": QUOTED, "score": 1}])
    with pytest.raises(PubmillError, match=":1: its id isn't one of the examples'") as caught:
        read_predictions(tmp_path / "p.jsonl.gz", REGRESSION)
    assert QUOTED not in str(caught.value)


@pytest.mark.parametrize(
    ("probability", "known"),
    [(0, True), (1, True), (1.00001, True), (1.0001, False), (-1e-9, False), (True, False)],
)
def test_probabilities_are_from_0_to_1_but_for_the_rounding_of_sums(
    tmp_path: Path, probability: float, known: bool
) -> None:
    """In single precision, a sum of probabilities may be slightly above 1."""
    example = SpanExample(id="1", document=None, question="q", context="pain", answers=[])
    lines = [{"id": "1", "answers": [{"text": "pain", "probability": probability}]}]
    write_jsonl_gz(tmp_path / "p.jsonl.gz", lines)
    if known:
        assert read_predictions(tmp_path / "p.jsonl.gz", [example]) == [[("pain", probability)]]
    else:
        with pytest.raises(PubmillError, match="1: 1: expected a list of answers"):
            read_predictions(tmp_path / "p.jsonl.gz", [example])


def test_the_first_five_missing_predictions_are_named(tmp_path: Path) -> None:
    examples = [replace(EXAMPLES[0], id=str(number)) for number in range(7)]
    write_jsonl_gz(tmp_path / "p.jsonl.gz", [{"id": "6", "labels": ["O", "O"]}])
    with pytest.raises(PubmillError, match="6 of 7 examples have no prediction, .* 0, 1, 2, 3, 4; run the"):
        read_predictions(tmp_path / "p.jsonl.gz", examples)
