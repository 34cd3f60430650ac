"""Converter of SQuAD's JSON (Rajpurkar et al. 2016, version 1.1; Rajpurkar, Jia and Liang 2018, version 2.0).

Articles contain paragraphs, and paragraphs contain questions; an answer is a text and its first character's
offset. Texts are kept unchanged, including white space: the offsets count its characters, and SQuAD's own
evaluation reads the same texts.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field

from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput, JsonModel, check_id, read_json
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer, SpanExample
from pubmill.messages.quotations import quote

VERSIONS = ("1.1", "v2.0")
"""Versions as stated in the files."""


class _Answer(JsonModel):
    text: Annotated[str, Field(min_length=1)]
    answer_start: Annotated[int, Field(ge=0)]


class _Question(JsonModel):
    id: Annotated[
        str, Field(min_length=1), BeforeValidator(lambda value: str(value) if type(value) is int else value)
    ]
    question: str
    answers: tuple[_Answer, ...] = ()
    is_impossible: bool = False
    plausible_answers: tuple[_Answer, ...] = ()


class _Paragraph(JsonModel):
    context: str
    qas: list[_Question]


class _Article(JsonModel):
    title: str = None  # type: ignore[assignment]  # may be absent, but not null
    paragraphs: list[_Paragraph]


class _SquadFile(JsonModel):
    data: list[_Article]


class SquadQuestion(NamedTuple):
    """A question of a file, whether it is marked as impossible, and the number of its `plausible_answers`."""

    example: SpanExample
    impossible: bool
    plausible: int


def read_questions(path: Path) -> Iterator[SquadQuestion]:
    """Yield the questions of a file in order, with ids that may be shown (`check_id`). A `PubmillError` names
    a repeated question, or one whose answer is not at its offset in the context."""
    seen: set[str] = set()
    for i, article in enumerate(read_json(_SquadFile, path).data):
        for j, paragraph in enumerate(article.paragraphs):
            for k, question in enumerate(paragraph.qas):
                check_id(question.id, f"{path}: data.{i}.paragraphs.{j}.qas.{k}.id")
                if question.id in seen:
                    raise PubmillError(f"{path}: question {question.id} occurs for the second time")
                seen.add(question.id)
                yield _parse_question(path, article.title, paragraph.context, question)


def _parse_question(path: Path, title: str | None, context: str, question: _Question) -> SquadQuestion:
    for answer in question.answers:
        there = context[answer.answer_start : answer.answer_start + len(answer.text)]
        if there != answer.text:
            raise PubmillError(
                f"{path}: question {question.id}: the answer {quote(answer.text)} is not in the context at "
                f"character {answer.answer_start}, which has {quote(there)}; fetch the file again"
            )
    answers = [Answer(text=answer.text, start=answer.answer_start) for answer in question.answers]
    example = SpanExample(
        id=question.id, document=title, question=question.question, context=context, answers=answers
    )
    return SquadQuestion(example, question.is_impossible, len(question.plausible_answers))


def read(source: ConverterInput) -> Iterator[SpanExample]:
    """Yield the examples of one split, JSON or gzipped JSON; their document is the title of the article.

    Questions must be marked as impossible exactly if they have no answers; their `plausible_answers`, which
    are wrong, are left out and counted.
    """
    source.check_options()
    yield from examples(source.of_split(), source.left_out)


def examples(path: Path, left_out: Counter[str]) -> Iterator[SpanExample]:
    """Yield the examples of a file, as `read` does."""
    for example, impossible, plausible in read_questions(path):
        if impossible == bool(example.answers):
            has, marked = len(example.answers), "impossible" if impossible else "possible"
            raise PubmillError(f"{path}: question {example.id} has {has} answers but is marked as {marked}")
        if plausible:
            left_out["plausible_answers"] += plausible
        yield example


def write(examples: Sequence[SpanExample], form: WriterOptions) -> Iterator[str]:
    """Yield SQuAD's JSON; the option `version` is one of `VERSIONS`, and 2.0 marks unanswerable questions.
    Consecutive examples of one document form an article, those of one context a paragraph."""
    version = form.options.get("version")
    if version not in VERSIONS or form.options.keys() != {"version"}:
        raise PubmillError(f"published.options must be `version`, one of {list(VERSIONS)}, and nothing else")
    yield '{"data": ['
    for number, (title, article) in enumerate(groupby(examples, lambda example: example.document or "")):
        paragraphs = [
            {"context": context, "qas": [_question_json(example, version) for example in of_context]}
            for context, of_context in groupby(article, lambda example: example.context)
        ]
        yield (", " if number else "") + json.dumps({"title": title, "paragraphs": paragraphs})
    yield f'], "version": "{version}"}}'


def _question_json(example: SpanExample, version: str) -> dict[str, object]:
    answers = [{"answer_start": answer.start, "text": answer.text} for answer in example.answers]
    marked = {"is_impossible": not answers} if version == "v2.0" else {}
    return {"answers": answers, "question": example.question, "id": example.id, **marked}
