"""Forms of files with documents, among them plain text and JSON lines, and the suffixes that imply them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from pubmill.errors import PubmillError
from pubmill.formats import bioc_collections as bioc
from pubmill.formats import brat, pubtator, spans
from pubmill.formats.documents import Annotated, DocumentFile, InputDocument, Passage, TextMention
from pubmill.formats.json_text import json_line, parse_json, read_rows
from pubmill.formats.offsets import USUAL, Offsets
from pubmill.formats.text_files import GZIP, check_characters, read_text
from pubmill.storage.archives import decode, members


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
            try:
                mentions = [
                    TextMention(
                        start=one["start"], end=one["end"], type=one["type"], text=one["text"], source=one
                    )
                    for one in row.get("annotations", [])
                ]
                sound = all(
                    isinstance(m.type, str) and 0 <= m.start < m.end and text[m.start : m.end] == m.text
                    for m in mentions
                )
            except (TypeError, KeyError):
                sound = False
            if not sound:
                raise PubmillError(
                    f"{where}: `annotations` must be a list of {{start, end, text, type}}, each with the "
                    "text between its offsets"
                )
            passage = Passage(text=text, offset=0, mentions=mentions)
            yield InputDocument(id=row["id"], where=where, passages=[passage], source=row)


FORMATS: dict[str, type[DocumentFile]] = {
    "text": TextFile,
    "jsonl": JsonLines,
    "bioc-json": bioc.BioCJson,
    "bioc-xml": bioc.BioCXml,
    "pubtator": pubtator.PubTator,
}
SUFFIXES = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".json": "bioc-json",
    ".xml": "bioc-xml",
    ".pubtator": "pubtator",
}
ENTITIES = ("bioc-json", "bioc-xml", "pubtator")
"""Formats whose documents can contain mentions."""


def format_of(path: Path) -> str:
    """Return the format that a file's suffix implies, before `.gz` if there is one."""
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in SUFFIXES.items())
        raise PubmillError(f"{path}: the suffix does not imply a format ({known}); give --format")
    return SUFFIXES[suffix]


def suffix_of(path: Path) -> str:
    """Return the suffix of a file, before `.gz` if there is one."""
    return (path.with_suffix("") if path.suffix == GZIP else path).suffix


ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
Texts = Mapping[str, str]
"""Name -> text of the files of an archive, or of one file."""


Reader = Callable[[Texts, str, Offsets], Iterator[InputDocument]]


def _of_each(read: Callable[[str, str, Offsets], Iterator[InputDocument]]) -> Reader:
    """Return a reader of several files, which calls `read` with the text and the location of each."""

    def read_all(texts: Texts, where: str, offsets: Offsets) -> Iterator[InputDocument]:
        for name, text in texts.items():
            yield from read(text, f"{where}:{name}" if name else where, offsets)

    return read_all


ANNOTATED: dict[str, Reader] = {
    "pubtator": _of_each(lambda text, *rest: pubtator.documents_of(enumerate(text.split("\n"), 1), *rest)),
    "bioc-json": _of_each(
        lambda text, place, offsets: bioc.documents_of(parse_json(text, place), place, offsets)
    ),
    "bioc-xml": _of_each(
        lambda text, place, offsets: bioc.documents_of(bioc.read_xml(text, place), place, offsets)
    ),
    "brat": brat.read_documents,
    "spans": _of_each(spans.read_documents),
    "word-spans": _of_each(spans.read_words),
}
"""Form of documents with mentions -> its reader."""


def annotated_documents(
    path: Path, form: str, folder: str = "", offsets: Offsets = USUAL
) -> Iterator[InputDocument]:
    """Yield the documents of a file, or of all files of an archive, by name, below `folder`."""
    if not path.name.endswith(ARCHIVES):
        if form == "brat":
            raise PubmillError(f"{path}: brat's form needs an archive (zip, tar) of .txt and .ann files")
        return ANNOTATED[form]({"": read_text(path)}, str(path), offsets)
    return ANNOTATED[form](archived_texts(path, folder), str(path), offsets)


def archived_texts(path: Path, folder: str = "") -> dict[str, str]:
    """Return the names and texts of an archive's files below `folder`, by name, hidden ones left out."""
    texts = {
        name: decode(content, f"{path}:{name}").removeprefix("\ufeff")
        for name, content in sorted(members(path))
        if f"/{name}".startswith(f"/{folder}") and not _is_hidden(name)
    }
    if not texts:
        raise PubmillError(f"{path}: there are no files below {folder or 'its top'}")
    return texts


def _is_hidden(name: str) -> bool:
    """Return whether a member is no data: brat's settings, those of file systems, or a description."""
    last = name.rpartition("/")[2]
    return last.startswith((".", "_")) or "__MACOSX" in name or last.endswith((".conf", ".md", ".pdf"))
