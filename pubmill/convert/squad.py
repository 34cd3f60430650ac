"""Converter of SQuAD's JSON (Rajpurkar et al. 2016, version 1.1; Rajpurkar, Jia and Liang 2018, version 2.0).

Articles contain paragraphs, and paragraphs contain questions; an answer is a text and its first character's
offset. Texts are kept unchanged, including white space: the offsets count its characters, and SQuAD's own
evaluation reads the same texts.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput, JsonModel, parse_json
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer, SpanExample
from pubmill.formats.text_files import read_text
from pubmill.messages.quotations import show

VERSIONS = ("1.1", "v2.0")
"""Versions as stated in the files."""


class _Answer(JsonModel):
    text: Annotated[str, Field(min_length=1)]
    answer_start: Annotated[int, Field(ge=0)]


class SquadQuestion(JsonModel):
    id: Annotated[
        str, Field(min_length=1), BeforeValidator(lambda value: str(value) if type(value) is int else value)
    ]
    question: str
    answers: tuple[_Answer, ...] = ()
    is_impossible: bool = False
    plausible_answers: tuple[_Answer, ...] = ()


class _Paragraph(JsonModel):
    context: str
    qas: list[SquadQuestion]


class _Article(JsonModel):
    title: str = None  # type: ignore[assignment]  # may be absent, but not null
    paragraphs: list[_Paragraph]


class _SquadFile(JsonModel):
    data: list[_Article]


def questions(path: Path) -> Iterator[tuple[SpanExample, SquadQuestion]]:
    """Yield the questions of a file in order, as examples and as the file has them."""
    for article in parse_json(_SquadFile, read_text(path), str(path)).data:
        for paragraph in article.paragraphs:
            for one in paragraph.qas:
                answers = [Answer(text=answer.text, start=answer.answer_start) for answer in one.answers]
                example = SpanExample(
                    id=one.id,
                    document=article.title,
                    question=one.question,
                    context=paragraph.context,
                    answers=answers,
                )
                yield example, one


def read(source: ConverterInput) -> Iterator[SpanExample]:
    """Yield the examples of one split, JSON or gzipped JSON; their document is the title of the article.

    Questions must be marked as impossible exactly if they have no answers; their `plausible_answers`, which
    are wrong, are left out and counted.
    """
    source.check_options()
    path = source.of_split()
    for example, question in questions(path):
        if question.is_impossible == bool(example.answers):
            has, marked = len(example.answers), "impossible" if question.is_impossible else "possible"
            raise PubmillError(
                f"{path}: question {show(example.id)} has {has} answers but is marked as {marked}"
            )
        if question.plausible_answers:
            source.left_out["plausible_answers"] += len(question.plausible_answers)
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
