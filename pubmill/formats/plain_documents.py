"""Documents as plain text and as JSON lines."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from pubmill.errors import PubmillError
from pubmill.formats.documents import Annotated, InputDocument, Passage, TextMention
from pubmill.formats.json_text import json_line, read_rows
from pubmill.formats.text_files import GZIP, check_characters, read_text


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
            merged = sorted([*filter(one.keeps, passage.mentions), *mentions], key=lambda m: (m.start, m.end))
            rows = [m.source or _mention_row(m) for m in merged]
            output.write(json_line({**one.document.source, "annotations": rows}))


def _mention_row(mention: TextMention) -> dict[str, object]:
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


def _parse_mentions(rows: Any, text: str, where: str) -> list[TextMention]:
    """Read the annotations of a JSON line."""
    try:
        mentions = [
            TextMention(start=one["start"], end=one["end"], type=one["type"], text=one["text"], source=one)
            for one in rows
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
