"""Rows of any keys: questions with answers in a context."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.row_examples import span
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer, SpanExample
from tests.clinical import given

OPTIONS = {"question": "ask", "context": "text", "answers": "right", "document": "pmid"}
ROW = {
    "ask": "What helps?", "text": "Aspirin helps.", "pmid": 7,
    "right": {"text": ["Aspirin", "Asp"], "answer_start": [0, 0]},
}  # fmt: skip


def convert(folder: Path, *rows: dict[str, Any]) -> list[SpanExample]:
    path = folder / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(span(given("train", {"train": path}, **OPTIONS)))


def test_questions_have_all_their_answers(tmp_path: Path) -> None:
    assert convert(tmp_path, ROW, ROW | {"right": {"text": [], "answer_start": []}}) == [
        SpanExample(
            id=f"train-{number:06d}", document="7", question="What helps?", context="Aspirin helps.",
            answers=answers,
        )
        for number, answers in ((1, [Answer(text="Aspirin", start=0), Answer(text="Asp", start=0)]), (2, []))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"right": ["Aspirin"]}, "'right' with the lists"),
        ({"right": {"text": ["Aspirin"]}}, "'right' with the lists"),
        ({"right": {"text": "A", "answer_start": [0]}}, "'right' with the lists"),
        ({"right": {"text": ["A"], "answer_start": "0"}}, "'right' with the lists"),
        ({"right": {"text": ["A", "B"], "answer_start": [0]}}, "'right' with the lists"),
        ({"text": ""}, "'text' with a text that isn't empty"),
        ({"text": None}, "'text' with a text that isn't empty"),
        ({"ask": " "}, "'ask' with a text that isn't empty"),
    ],
)
def test_a_row_that_lacks_something_is_named(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    with pytest.raises(PubmillError, match=rf"train\.jsonl.*2.*expected the key {expected}"):
        convert(tmp_path, ROW, ROW | change)
