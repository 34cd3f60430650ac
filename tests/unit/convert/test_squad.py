"""SQuAD's JSON: strict reading, writing, and positions in malformed files."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.convert import squad
from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer, SpanExample
from pubmill.messages.quotations import withholding

CONTEXT = "Größe of the\nriver Temo: 55 km.  It flows through Bosa."
RIVER = Answer(text="river Temo", start=13)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def document() -> Any:
    """Two articles; version 2.0, with a question that can't be answered."""
    qas = [
        {
            "id": "q1", "question": "Which river?",
            "answers": [{"text": "Temo", "answer_start": 19}, {"text": "river Temo", "answer_start": 13}],
            "is_impossible": False,
        },
        {
            "id": "q2", "question": " Who? ", "answers": [], "is_impossible": True,
            "plausible_answers": [{"text": "Bosa", "answer_start": 0}],
        },
    ]  # fmt: skip
    second = {
        "context": "Bosa.",
        "qas": [{"id": "q3", "question": "?", "answers": [{"text": "Bosa", "answer_start": 0}]}],
    }
    return {
        "version": "v2.0",
        "data": [
            {"title": "Temo", "paragraphs": [{"context": CONTEXT, "qas": qas}]},
            {"title": "Bosa", "paragraphs": [second]},
        ],
    }


def read(path: Path, content: Any) -> tuple[list[SpanExample], Counter[str]]:
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    left_out = Counter[str]()
    return list(squad.read(ConverterInput("dev", {"dev": path}, {}, left_out))), left_out


def test_questions_become_examples_and_texts_stay_as_they_are(tmp_path: Path) -> None:
    examples, left_out = read(tmp_path / "a.json", document())
    assert examples == [
        SpanExample(id=name, document=title, question=question, context=context, answers=answers)
        for name, title, question, context, answers in (
            ("q1", "Temo", "Which river?", CONTEXT, [Answer(text="Temo", start=19), RIVER]),
            ("q2", "Temo", " Who? ", CONTEXT, []),
            ("q3", "Bosa", "?", "Bosa.", [Answer(text="Bosa", start=0)]),
        )
    ]
    assert left_out == {"plausible_answers": 1}
    question = {"id": 262, "question": "Who?", "answers": [{"text": "Mice", "answer_start": 0}]}
    found = {"data": [{"paragraphs": [{"context": "Mice rest.", "qas": [question]}]}]}
    [example], _ = read(tmp_path / "a.json", json.dumps(found).encode())
    assert (example.id, example.document) == ("262", None)


def first(found: Any) -> Any:
    return found["data"][0]["paragraphs"][0]["qas"][0]


@pytest.mark.parametrize(("damage", "message"), [
    (lambda found: first(found)["answers"][0].update(text=""),
     r"data.0.paragraphs.0.qas.0.answers.0.text: .*at least 1 character"),
    (lambda found: first(found)["answers"][0].update(answer_start=-4), r"answers.0.answer_start: .*greater"),
    (lambda found: first(found)["answers"][0].update(answer_start=19.0), r"answer_start: .*valid integer"),
    (lambda found: first(found).update(id=""), r"qas.0.id: .*at least 1 character"),
    (lambda found: first(found).update(is_impossible=True), r"q1 has 2 answers but is marked as imp"),
    (lambda found: first(found).update(answers=[]), r"q1 has 0 answers but is marked as possible"),
    (lambda found: first(found).pop("answers"), r"q1 has 0 answers but is marked as possible"),
])  # fmt: skip
def test_faults_have_their_place(tmp_path: Path, damage: Callable[[Any], Any], message: str) -> None:
    content = document()
    damage(content)
    with pytest.raises(PubmillError, match=message) as error:
        read(tmp_path / "a.json", content)
    assert str(tmp_path / "a.json") in str(error.value)


@pytest.mark.parametrize(("content", "message"), [
    (b"", "Invalid JSON: EOF while parsing a value at line 1"),
    (json.dumps(document(), indent=1).encode()[:-30], r"Invalid JSON: EOF .* at line \d\d"),
    (json.dumps(document(), ensure_ascii=False).encode("latin-1"), "not UTF-8"),
    (b'{"data": [{"title": "\\ud800"}]}', "Invalid JSON"),
    (b'{"data": [], "more": [{"a": 1, "b": 2, "a": 1}]}', "the key a occurs twice in one object"),
    (gzip.compress(b"{}", mtime=0)[:-6], "not a whole gzip file"),
])  # fmt: skip
def test_what_is_no_json_is_reported(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(tmp_path / "a.json", content)


def test_options_are_unknown_and_licensed_text_is_not_shown(tmp_path: Path) -> None:
    for options in ({}, {"version": "3"}, {"version": "1.1", "indent": 2}):
        with pytest.raises(PubmillError, match=r"published\.options"):
            list(squad.write([], WriterOptions(options, None)))
    with pytest.raises(PubmillError, match="no options"):
        list(squad.read(ConverterInput("dev", {"dev": tmp_path}, {"version": "1.1"}, Counter())))
    content = document()
    first(content).update(id="Tirso", answers=[])
    with withholding(True), pytest.raises(PubmillError) as error:
        read(tmp_path / "a.json", content)
    assert "Tirso" not in str(error.value) and "possible" in str(error.value)


def written(examples: list[SpanExample], version: str) -> Any:
    return json.loads("".join(squad.write(examples, WriterOptions({"version": version}, None))))


def test_what_is_written_is_what_was_read_but_for_plausible_answers(tmp_path: Path) -> None:
    examples, _ = read(tmp_path / "a.json", document())
    expected = document()
    del expected["data"][0]["paragraphs"][0]["qas"][1]["plausible_answers"]
    expected["data"][1]["paragraphs"][0]["qas"][0]["is_impossible"] = False
    assert written(examples, "v2.0") == expected
    assert written(examples, "1.1")["data"][0]["paragraphs"][0]["qas"][1] == {
        "answers": [], "question": " Who? ", "id": "q2",
    }  # fmt: skip


@st.composite
def questions(draw: st.DrawFn) -> list[SpanExample]:
    made: list[SpanExample] = []
    for number in range(draw(st.integers(0, 6))):
        context = draw(TEXT)
        start = draw(st.integers(0, len(context)))
        text = context[start : draw(st.integers(start, len(context)))]
        answers = [Answer(text=text, start=start)] if text else []
        title, question = draw(TEXT), draw(TEXT)
        made.append(
            SpanExample(id=f"q{number}", document=title, question=question, context=context, answers=answers)
        )
    return made


@given(made=questions())
def test_written_files_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, made: list[SpanExample]
) -> None:
    folder = tmp_path_factory.mktemp("squad")
    text = "".join(squad.write(made, WriterOptions({"version": "v2.0"}, None)))
    assert read(folder / "a.json", text.encode())[0] == made
