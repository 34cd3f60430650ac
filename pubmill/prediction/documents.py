"""Documents to annotate, what is found in them, and the files of plain text and of JSON lines.

Offsets count characters (Unicode code points), as PubTator and BioC files do in practice; never bytes. They
count from after a byte-order mark, which is no part of a file's text and is not written again.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from pubmill.errors import PubmillError


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Characters `start` to `end` (exclusive) of a document; `id`: what a relation names it by; `source`: the
    file's own form of it, None for one that was predicted."""

    start: int
    end: int
    type: str
    text: str
    id: str | None = None
    source: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A predicted relation of two mentions."""

    type: str
    arguments: tuple[Mention, Mention]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRelation:
    """A relation that the file has: identifiers of what it relates, its own one, the file's form of it."""

    type: str
    arguments: tuple[str, ...]
    source: Any
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a document that is read by itself: `offset` is where its text begins in the document;
    `mentions` are those that the file has in it; `source` is the file's own, where the format needs it."""

    text: str
    offset: int
    mentions: list[Mention] = field(default_factory=list)
    source: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`where`: file and line or document, for messages; `relations`: those that the file has in it."""

    id: str
    where: str
    passages: list[Passage]
    relations: list[FileRelation] = field(default_factory=list)
    source: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """A document, and for each of its passages what was predicted: its mentions, or, where `mentions` is
    None, relations of the mentions that the file has.

    `own`: the types that the model predicts. What the file has of these is replaced, all else stays.
    """

    document: Document
    own: frozenset[str] = frozenset()
    mentions: list[list[Mention]] | None = None
    relations: list[list[Relation]] | None = None

    def keeps(self, mention: Mention) -> bool:
        """Whether a mention of the file stays."""
        return self.mentions is None or mention.type not in self.own

    def kept_relations(self) -> list[FileRelation]:
        """The file's relations that stay: not of the model's own types, and of nothing that is replaced."""
        kept = self.document.relations
        gone: set[str | None] = set()
        if self.mentions is None:
            lost = [relation for relation in kept if relation.type in self.own]
        else:
            mentions = [mention for passage in self.document.passages for mention in passage.mentions]
            gone = {m.id for m in mentions} - {m.id for m in mentions if self.keeps(m)}
            lost = [relation for relation in kept if gone.intersection(relation.arguments)]
        while lost:  # relations can relate relations
            kept = [relation for relation in kept if relation not in lost]
            gone = {relation.id for relation in lost}
            lost = [relation for relation in kept if gone.intersection(relation.arguments)]
        return kept


class DocumentFile(Protocol):
    """A file of documents in some format, which also writes them with what was found."""

    def __init__(self, path: Path) -> None: ...

    def documents(self) -> Iterator[Document]: ...

    def write(self, annotated: Iterable[Annotated], output: IO[str]) -> None: ...


class TextFile:
    """A file of plain text is one document, named like the file; what is written is one JSON line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def documents(self) -> Iterator[Document]:
        text = read_text(self.path)
        row = {"id": self.path.stem, "text": text}
        yield Document(
            id=row["id"], where=str(self.path), passages=[Passage(text=text, offset=0)], source=row
        )

    def write(self, annotated: Iterable[Annotated], output: IO[str]) -> None:
        for one in annotated:
            [passage], [mentions] = one.document.passages, one.mentions or [[]]
            found = sorted([*filter(one.keeps, passage.mentions), *mentions], key=lambda m: (m.start, m.end))
            rows = [
                m.source or {"start": m.start, "end": m.end, "text": m.text, "type": m.type} for m in found
            ]
            output.write(json_line({**one.document.source, "annotations": rows}))


class JsonLines(TextFile):
    """One document a line, `{"id", "text"}` and whatever else, which stays; `annotations` are added, beside
    those of other types that it has."""

    def documents(self) -> Iterator[Document]:
        for where, row in read_rows(self.path):
            if not isinstance(row.get("id"), str) or not isinstance(row.get("text"), str):
                raise PubmillError(f"{where}: a document needs the keys `id` and `text`, both texts")
            text = check_characters(row["text"], where)
            mentions = _mentions(row.get("annotations", []), text, where)
            passage = Passage(text=text, offset=0, mentions=mentions)
            yield Document(id=row["id"], where=where, passages=[passage], source=row)


def _mentions(found: Any, text: str, where: str) -> list[Mention]:
    """The annotations of a row of JSON lines, in the form in which they are written."""
    try:
        mentions = [
            Mention(start=one["start"], end=one["end"], type=one["type"], text=one["text"], source=one)
            for one in found
        ]
        sound = all(
            isinstance(m.type, str) and 0 <= m.start < m.end and text[m.start : m.end] == m.text
            for m in mentions
        )
    except (TypeError, KeyError):
        sound = False
    if not sound:
        raise PubmillError(
            f"{where}: `annotations` must be a list of {{start, end, text, type}}, each with the text that "
            "stands at its characters"
        )
    return mentions


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """File and line number of each JSON object of a file of JSON lines, and the object; no blank lines."""
    for number, line in enumerate(read_lines(path), 1):
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise PubmillError(f"{where}: not valid JSON: {error.msg}") from None
        except (RecursionError, ValueError):
            raise PubmillError(f"{where}: nested too deeply, or a number too long, to be read") from None
        if not isinstance(row, dict):
            raise PubmillError(f"{where}: expected a JSON object on each line")
        yield where, row


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, without their ends, nor a byte-order mark before the first."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007 (the errors below name it)
                yield line.rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error, f" after line {number}") from None


def read_text(path: Path) -> str:
    """A whole UTF-8 file, without a byte-order mark; ends of lines stay as they are, so that offsets
    count the file's characters."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error, "") from None


def _unreadable(path: Path, error: OSError | UnicodeDecodeError, place: str) -> PubmillError:
    if isinstance(error, UnicodeDecodeError):
        return PubmillError(f"{path}: not UTF-8{place} ({error.reason}); convert it to UTF-8")
    return PubmillError(f"{path}: can't be read: {error.strerror}")


def check_characters(text: str, where: str) -> str:
    """The text, if it can be written as UTF-8: JSON can hold halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PubmillError(
            f"{where}: character {error.start} of a text is half of a pair of surrogates; correct it"
        ) from None
    return text


def json_line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
