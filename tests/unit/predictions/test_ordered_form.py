"""Predictions without ids: what scripts of the field write, by the order of the export."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MultilabelExample, RegressionExample, SequenceExample, TokensExample
from pubmill.predictions.ordered_form import order_of
from pubmill.predictions.submission import Submission, read_submission
from pubmill.recipes.submissions import SubmissionRecipe

SEQUENCE = [SequenceExample(id=name, document=None, text=name, label="no") for name in "abc"]
LABELS = {
    "tokens": ("Disease",), "sequence": ("maybe", "no", "yes"), "regression": (), "multilabel": ("b", "a"),
}  # fmt: skip
EXAMPLES: dict[str, list[Any]] = {
    "tokens": [
        TokensExample(id="a", document=None, words=["Flu", "came", "."], labels=["O"] * 3),
        TokensExample(id="b", document=None, words=["No", "flu"], labels=["O"] * 2),
    ],
    "sequence": SEQUENCE,
    "regression": [RegressionExample(id=n, document=None, text=n, text_pair=n, score=1.0) for n in "ab"],
    "multilabel": [MultilabelExample(id=name, document=None, text=name, labels=[]) for name in "ab"],
}
YES_NO_MAYBE = ["yes", "no", "maybe"]
BEGIN, IN, OUT, PAD = [5.0, 0.0, 1.0], [0, 2, 1], [0.1, 0.2, 3.0], [-100.0] * 3  # scores of B, I and O


def submitted(folder: Path, kind: Any, text: str, **changes: Any) -> Submission:
    recipe = SubmissionRecipe(
        dataset="toy", kind=kind, access="public", split="test", metric="accuracy", labels=LABELS[kind],
        **{"order": "export", **changes},
    )  # fmt: skip
    (folder / "file").write_text(text)
    return read_submission(folder / "file", recipe, EXAMPLES[kind])


def read(folder: Path, kind: Any, text: str, **changes: Any) -> list[Any]:
    """Read predictions; return the value of each example, in order."""
    lines = submitted(folder, kind, text, **changes).lines
    assert [line["id"] for line in lines] == [one.id for one in EXAMPLES[kind]]
    return [next(value for name, value in line.items() if name != "id") for line in lines]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("tokens", "B-Disease O O\nO B-Disease\n", [["B-Disease", "O", "O"], ["O", "B-Disease"]]),
        ("tokens", json.dumps([["S-Disease", "O", "O"], ["O", "O"]]), [["B-Disease", "O", "O"], ["O", "O"]]),
        ("sequence", "yes\nno\nmaybe\n", YES_NO_MAYBE),
        ("sequence", "index\tprediction\n0\tyes\n1\t1\n2\tmaybe\n", YES_NO_MAYBE),
        ("sequence", "[2, 1, 0]", YES_NO_MAYBE),
        (
            "sequence",
            json.dumps({"logits": [[0, 1, 3], [0, 5, 1], [9, -1, 2]], "labels": [0, 0, 0]}),
            YES_NO_MAYBE,
        ),
        ("regression", "index\tprediction\n0\t1.250\n1\t3.0\n", [1.25, 3.0]),
        ("regression", json.dumps({"predictions": [[0.5], [4.0]]}), [0.5, 4.0]),
        ("multilabel", json.dumps({"predictions": [[0.5, 4], [-1, -2.0]]}), [["a", "b"], []]),
        (
            "tokens",  # the second word of the first sentence has two pieces
            json.dumps(
                {
                    "predictions": [[OUT, BEGIN, IN, OUT, OUT, OUT], [OUT, OUT, BEGIN, OUT, PAD, PAD]],
                    "word_ids": [[None, 0, 1, 1, 2, None], [None, 0, 1, None]],
                    "label_ids": [[-100, 2, 2, -100, 2, -100], [-100, 2, 2, -100, -100, -100]],
                }
            ),
            [["B-Disease", "I-Disease", "O"], ["O", "B-Disease"]],
        ),
    ],
)
def test_predictions_follow_the_examples(tmp_path: Path, kind: str, text: str, expected: list[Any]) -> None:
    assert read(tmp_path, kind, text) == expected


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("tokens", "B-Disease O O\n", "1 predictions for the 2 examples of toy"),
        ("tokens", "B-Disease O\nO O\n", "2 labels for the 3 words of a"),
        ("tokens", "B-Disease O x\nO O\n", "expected BIO labels"),
        ("tokens", json.dumps({"predictions": [[BEGIN]], "label_ids": [[0]]}), "and `word_ids` where words"),
        ("tokens", json.dumps({"logits": [[BEGIN], [BEGIN]], "word_ids": [[0], [0]]}), "1 labels for the 3"),
        ("tokens", json.dumps({"logits": [[[1]], [BEGIN]], "word_ids": [[0], [0]]}), "item 1: expected a"),
        ("tokens", json.dumps([[0, 0, 1], [1, 1]]), "item 1: numbers in place of labels"),
        ("multilabel", json.dumps({"logits": [[1], [1]]}), "item 1: expected a list of 2 numbers"),
        ("tokens", "B-Gene O O\nO O\n", "label that the dataset lacks: Gene"),
        ("sequence", "yes\nno\n\nno\n", "4 predictions for the 3 examples"),
        ("sequence", "index\tprediction\n0\tyes\n2\tno\n3\tno\n", "file:3: expected the row number 1"),
        ("sequence", "[2, 1, 3]", "label that the dataset lacks: 3"),
        ("sequence", json.dumps({"logits": [[1, 2], [1, 2], [2, 1]]}), "item 1: expected a list of 3"),
        ("sequence", json.dumps({"logits": [["a"]] * 3}), "item 1: expected a list of 3"),
        ("sequence", json.dumps({"gold": [1, 2, 3]}), "expected a list of predictions, or an object"),
        ("regression", "low\nhigh\n", "expected a finite number"),
    ],
)  # fmt: skip
def test_other_files_are_refused(tmp_path: Path, kind: str, text: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(tmp_path, kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("tokens", "B-Disease O O\nO B-Disease\n"),
        ("sequence", "index\tprediction\n0\tyes\n1\t1\n2\tmaybe\n"),
        ("sequence", json.dumps({"predictions": [[1, 2, 3]] * 3, "label_ids": [0, 0, 0]})),
    ],
)
def test_without_the_order_the_option_is_named(tmp_path: Path, kind: str, text: str) -> None:
    with pytest.raises(PubmillError, match="of `pubmill export`, add `--order export`"):
        read(tmp_path, kind, text, order=None)


@pytest.mark.parametrize(
    "text",
    [
        "yes\nno\n", "a\tyes\nb\tno\nd\tno\n", '[{"id": "a", "label": "x"}, 1, 2]',
        "id,prediction\na,yes\nb,no\n",  # with the headings, as many lines as examples
        '{"id": "a", "label": "yes"}\n{"id": "b", "label": "no"}\n',
        "document,guess\na,yes\nb,no\n",
    ],
)  # fmt: skip
def test_a_file_of_another_order_has_no_such_advice(tmp_path: Path, text: str) -> None:
    with pytest.raises(PubmillError) as refused:
        read(tmp_path, "sequence", text, order=None)
    assert "--order" not in str(refused.value)


def test_scores_are_said_to_be_read_and_the_order_is_that_of_ids(tmp_path: Path) -> None:
    text = json.dumps({"predictions": [[1, 2, 3]] * 3, "label_ids": [0, 0, 0]})
    assert submitted(tmp_path, "sequence", text).reading.by_rule == {"scores": 3}
    assert order_of(SEQUENCE) != order_of(SEQUENCE[::-1])
