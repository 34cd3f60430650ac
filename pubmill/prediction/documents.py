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
    """Characters `start` to `end` (exclusive) of a document; `id`: what a relation names it by."""

    start: int
    end: int
    type: str
    text: str
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A predicted relation of two mentions."""

    type: str
    arguments: tuple[Mention, Mention]


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
    """`where`: file and line or document, for messages; `relations`: how many the file has in it."""

    id: str
    where: str
    passages: list[Passage]
    relations: int = 0
    source: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """A document, and for each of its passages what was predicted: its mentions, or, where `mentions` is
    None, relations of the mentions that the file has."""

    document: Document
    mentions: list[list[Mention]] | None = None
    relations: list[list[Relation]] | None = None


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
            [mentions] = one.mentions or [[]]
            found = [{"start": m.start, "end": m.end, "text": m.text, "type": m.type} for m in mentions]
            output.write(json_line({**one.document.source, "annotations": found}))


class JsonLines(TextFile):
    """One document a line, `{"id", "text"}` and whatever else, which stays; `annotations` are added."""

    def documents(self) -> Iterator[Document]:
        for where, row in read_rows(self.path):
            if not isinstance(row.get("id"), str) or not isinstance(row.get("text"), str):
                raise PubmillError(f"{where}: a document needs the keys `id` and `text`, both texts")
            if "annotations" in row:
                raise PubmillError(f"{where}: it has `annotations` already; take them out first")
            text = check_characters(row["text"], where)
            yield Document(id=row["id"], where=where, passages=[Passage(text=text, offset=0)], source=row)


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
