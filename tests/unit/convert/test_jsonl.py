"""JSON lines with any keys, such as MedNLI."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.jsonl import read
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample
from pubmill.messages.quotations import withholding
from tests.clinical import given
from tests.world.part import CANARY

OPTIONS = {
    "id": "pairID", "text": "sentence1", "text_pair": "sentence2", "label": "gold_label",
    "labels": ["entailment", "neutral"],
}  # fmt: skip
ROW = {"pairID": "a-1", "sentence1": f"{CANARY} A", "sentence2": "B", "gold_label": "neutral", "more": [1]}


def convert(folder: Path, *rows: Any, **options: Any) -> list[SequenceExample]:
    path = folder / "train.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return list(read(given("train", {"train": path}, **(options or OPTIONS))))


def test_pairs_are_read_and_control_characters_become_blanks(tmp_path: Path) -> None:
    row = {**ROW, "sentence1": "A\tb\r\nc \u00b5"}
    assert convert(tmp_path, row, {**ROW, "pairID": "a-2"})[0] == SequenceExample(
        id="a-1", document=None, text="A b  c \u00b5", text_pair="B", label="neutral"
    )


def test_another_dataset_is_other_options(tmp_path: Path) -> None:
    options = {"text": "body", "label": "class", "document": "pmid", "labels": ["0", "1"]}
    rows = [{"body": "x", "class": 1, "pmid": 17}, {"body": "y", "class": "0", "pmid": "18"}]
    assert convert(tmp_path, *rows, **options) == [
        SequenceExample(id="train-000001", document="17", text="x", label="1"),
        SequenceExample(id="train-000002", document="18", text="y", label="0"),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (f'{{"pairID": "{CANARY}', "not valid JSON: .* at character"),
        (f'["{CANARY}"]', "found list"),
        ("", "not valid JSON: Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"pairID": ' + "9" * 5000 + "}", "a number too long"),
        ('{"pairID": "a", "pairID": "b"}', "the key <6 characters, not shown.* occurs twice"),
        (f'{{"{CANARY}": 1, "{CANARY}": 2}}', "the key <8 characters, not shown.* occurs twice"),
        (f'{{"more": {{"{CANARY}": 1, "{CANARY}": 2}}}}', "the key <8 characters, not shown.* occurs twice"),
        ({**ROW, "pairID": CANARY}, "expected an id of at most 40 .*found <8 characters, not shown"),
        ({**ROW, "pairID": "2 words"}, "expected an id of at most 40 .*found <7 characters, not shown"),
        ({**ROW, "pairID": None}, "'pairID'"),
        ({**ROW, "pairID": True}, "'pairID'"),
        ({**ROW, "pairID": ""}, "'pairID'"),
        ({**ROW, "sentence1": " "}, "'sentence1'"),
        ({**ROW, "sentence2": 3}, "'sentence2'"),
        ({key: value for key, value in ROW.items() if key != "sentence2"}, "'sentence2'"),
        ({**ROW, "gold_label": CANARY}, "gold_label of .*found <8 characters, not shown"),
        ({**ROW, "pairID": "first-1"}, "its pairID occurred on an earlier line"),
    ],
)
def test_malformed_lines_are_reported_with_their_number_and_without_their_text(
    tmp_path: Path, row: Any, message: str
) -> None:
    first = {**ROW, "pairID": "first-1"}
    with (
        withholding(True),
        pytest.raises(PubmillError, match=rf"train\.jsonl:2: .*{message}") as error,
    ):
        convert(tmp_path, first, row)
    assert CANARY not in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {"text": "a", "labels": ["x"]},
        {"text": "a", "label": "b"},
        {"text": "a", "label": "b", "labels": []},
        {"text": "a", "label": "b", "labels": [1]},
        {"text": "a", "label": 2, "labels": ["x"]},
        {"text": "a", "label": "b", "labels": ["x"], "id": ""},
    ],
)
def test_options_are_checked(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(PubmillError, match="options must name the keys"):
        convert(tmp_path, ROW, **options)
    with pytest.raises(PubmillError, match="has no options"):
        convert(tmp_path, ROW, **OPTIONS, skip="x")
