"""Documents to annotate, their annotations, and the formats of plain text and JSON lines.

Offsets count characters (Unicode code points), as PubTator and BioC files do in practice; never bytes. They
start after a byte-order mark, which is not part of a file's text and is not written again.
"""

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from pubmill.errors import PubmillError
from pubmill.storage.strict_parsing import RepeatedKeyError, unique_keys

GZIP = ".gz"
LARGEST = 1 << 30
"""Largest file that is unpacked, in bytes of its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMention:
    """A mention of the characters `start` to `end` (exclusive) of a document. `id`: identifier in relations;
    `source`: its form in the file, None if it was predicted; `confidence`: a probability, if requested."""

    start: int
    end: int
    type: str
    text: str
    id: str | None = None
    source: Any = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A predicted relation of two mentions; `confidence`: a probability, if requested."""

    type: str
    arguments: tuple[TextMention, TextMention]
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRelation:
    """A relation in the file. `arguments`: identifiers of the related items; `id`: its own identifier;
    `source`: its form in the file."""

    type: str
    arguments: tuple[str, ...]
    source: Any
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a document that is read separately. `offset`: start of its text in the document; `mentions`:
    those in the file; `source`: its form in the file, if the format needs it."""

    text: str
    offset: int
    mentions: list[TextMention] = field(default_factory=list)
    source: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputDocument:
    """A document to annotate. `where`: file and line or document number, for messages; `relations`: those in
    the file."""

    id: str
    where: str
    passages: list[Passage]
    relations: list[FileRelation] = field(default_factory=list)
    source: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """A document with predictions for each passage: mentions, or, if `mentions` is None, relations between
    the mentions in the file.

    `own`: the types that the model predicts. Annotations of these types in the file are replaced; others
    stay.
    """

    document: InputDocument
    own: frozenset[str] = frozenset()
    mentions: list[list[TextMention]] | None = None
    relations: list[list[Relation]] | None = None

    def keeps(self, mention: TextMention) -> bool:
        """Return whether a mention in the file is kept."""
        return self.mentions is None or mention.type not in self.own

    def kept_relations(self) -> list[FileRelation]:
        """Return the file's relations to keep: not of the model's types, and without replaced arguments."""
        kept = self.document.relations
        gone: set[str | None] = set()
        if self.mentions is None:
            lost = [relation for relation in kept if relation.type in self.own]
        else:
            mentions = [mention for passage in self.document.passages for mention in passage.mentions]
            gone = {m.id for m in mentions} - {m.id for m in mentions if self.keeps(m)}
            lost = [relation for relation in kept if gone.intersection(relation.arguments)]
        while lost:  # relations can be arguments of relations
            kept = [relation for relation in kept if relation not in lost]
            gone = {relation.id for relation in lost}
            lost = [relation for relation in kept if gone.intersection(relation.arguments)]
        return kept


class DocumentFile(Protocol):
    """A file of documents in some format, which also writes them with their annotations."""

    def __init__(self, path: Path) -> None: ...

    def documents(self) -> Iterator[InputDocument]: ...

    def write(self, annotated: Iterable[Annotated], output: IO[str]) -> None: ...


class TextFile:
    """A plain text file: one document, named after the file; the output is one JSON line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def documents(self) -> Iterator[InputDocument]:
        text = read_text(self.path)
        name = self.path.with_suffix("") if self.path.suffix == GZIP else self.path
        row = {"id": name.stem, "text": text}
        yield InputDocument(
            id=row["id"], where=str(self.path), passages=[Passage(text=text, offset=0)], source=row
        )

    def write(self, annotated: Iterable[Annotated], output: IO[str]) -> None:
        for one in annotated:
            [passage], [mentions] = one.document.passages, one.mentions or [[]]
            found = sorted([*filter(one.keeps, passage.mentions), *mentions], key=lambda m: (m.start, m.end))
            rows = [m.source or _mention_row(m) for m in found]
            output.write(json_line({**one.document.source, "annotations": rows}))


def _mention_row(mention: TextMention) -> dict[str, Any]:
    row = {"start": mention.start, "end": mention.end, "text": mention.text, "type": mention.type}
    return row if mention.confidence is None else {**row, "confidence": mention.confidence}


class JsonLines(TextFile):
    """JSON lines with one document each: `{"id", "text"}` and other keys, which are kept. The predicted
    `annotations` are added to existing ones of other types."""

    def documents(self) -> Iterator[InputDocument]:
        for where, row in read_rows(self.path):
            if not isinstance(row.get("id"), str) or not isinstance(row.get("text"), str):
                raise PubmillError(f"{where}: a document needs the keys `id` and `text`, both strings")
            text = check_characters(row["text"], where)
            mentions = _parse_mentions(row.get("annotations", []), text, where)
            passage = Passage(text=text, offset=0, mentions=mentions)
            yield InputDocument(id=row["id"], where=where, passages=[passage], source=row)


def _parse_mentions(found: Any, text: str, where: str) -> list[TextMention]:
    """Read the annotations of a JSON line."""
    try:
        mentions = [
            TextMention(start=one["start"], end=one["end"], type=one["type"], text=one["text"], source=one)
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
            f"{where}: `annotations` must be a list of {{start, end, text, type}}, each with the text "
            "between its offsets"
        )
    return mentions


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield `file:line` and the object for each line of a JSON lines file; blank lines are errors."""
    for number, line in enumerate(read_lines(path), 1):
        where = f"{path}:{number}"
        try:
            row = json.loads(line, object_pairs_hook=unique_keys)
        except json.JSONDecodeError as error:
            raise PubmillError(f"{where}: not valid JSON: {error.msg}") from None
        except RepeatedKeyError as error:
            raise PubmillError(f"{where}: {error}") from None
        except (RecursionError, ValueError):
            raise PubmillError(f"{where}: nested too deeply, or a number too long, to be read") from None
        if not isinstance(row, dict):
            raise PubmillError(f"{where}: expected a JSON object on each line")
        yield where, row


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without line ends and byte-order mark."""
    number = 0
    try:
        with _opened(path, newline="\n") as lines:
            for number, line in enumerate(lines, 1):  # noqa: B007 (the errors below name it)
                yield line.rstrip("\r\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise _reading_error(path, error, f" after line {number}") from None


def read_text(path: Path) -> str:
    """Read a UTF-8 file without its byte-order mark; line ends are kept, so that offsets count the file's
    characters."""
    try:
        with _opened(path, newline="") as file:
            return file.read()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise _reading_error(path, error, "") from None


class BoundedGzip(gzip.GzipFile):
    """A gzip file of which at most `LARGEST` bytes are unpacked."""

    def read(self, size: int | None = -1) -> bytes:
        """Return up to `size` bytes, by default all."""
        return self._within(super().read(LARGEST + 1 if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        """Return some bytes."""
        return self._within(super().read1(size))

    def _within(self, content: bytes) -> bytes:
        if self.tell() > LARGEST:
            raise PubmillError(f"{self.name}: unpacks to more than {LARGEST:,} bytes; split it into several")
        return content


def _opened(path: Path, newline: str) -> IO[str]:
    """Open a UTF-8 file, decompressed if its name ends with `.gz`, without its byte-order mark."""
    if path.suffix == GZIP:
        if not path.stat().st_size:  # Python's gzip accepts an empty file as complete
            raise EOFError
        return io.TextIOWrapper(BoundedGzip(path), encoding="utf-8-sig", newline=newline)
    return path.open(encoding="utf-8-sig", newline=newline)


def _reading_error(path: Path, error: Exception, place: str) -> PubmillError:
    if isinstance(error, UnicodeDecodeError):
        return PubmillError(f"{path}: not UTF-8{place} ({error.reason}); convert it to UTF-8")
    if isinstance(error, OSError) and error.strerror:
        return PubmillError(f"{path}: can't be read: {error.strerror}")
    return PubmillError(f"{path}: not a whole gzip file{place}; make it again")


def check_characters(text: str, where: str) -> str:
    """Return the text if it can be encoded as UTF-8: JSON can contain single surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PubmillError(
            f"{where}: character {error.start} of a text is half of a surrogate pair; correct it"
        ) from None
    return text


def json_line(row: dict[str, Any]) -> str:
    """Format a row as a JSON line."""
    return json.dumps(row, ensure_ascii=False) + "\n"
