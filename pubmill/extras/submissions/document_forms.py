"""Predictions in BioC and PubTator files: mentions of documents, or the relation of their arguments."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pubmill.extras.submissions.alignment import FURTHEST
from pubmill.extras.submissions.rows import PredictedSpan
from pubmill.formats.document_files import FORMATS
from pubmill.formats.documents import InputDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedDocument:
    """A document with its mentions and types of relations. `text`: its passages, each at its offset."""

    where: str
    id: str
    text: str
    mentions: list[PredictedSpan]
    relations: Sequence[str]


def read(path: Path, form: str) -> Iterator[PredictedDocument]:
    """Yield the documents of a file."""
    for document in FORMATS[form](path).documents():
        yield PredictedDocument(
            where=document.where,
            id=document.id,
            text=_text(document),
            mentions=[
                PredictedSpan(one.start, one.end, one.type)
                for passage in document.passages
                for one in passage.mentions
            ],
            relations=[relation.type for relation in document.relations],
        )


def _text(document: InputDocument) -> str:
    """Return a text in which each passage begins at its offset; overlapping ones keep their first form.

    A gap in which no word is searched for is cut, because an offset may be any number.
    """
    text = ""
    for passage in sorted(document.passages, key=lambda one: one.offset):
        if len(text) <= passage.offset:
            text += " " * min(passage.offset - len(text), FURTHEST + 1) + passage.text
    return text
