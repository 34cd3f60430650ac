"""Files of rows: JSON lines, a list of JSON, CSV, tab-separated values, Parquet and simple XML.

Each row is a mapping of names to values: keys, headings, columns, or paths below an XML element
(`Question`, `Question/@qtype`; texts of one path are joined by line feeds). Nested keys of JSON and Parquet
are also reached by a path with dots (`answers.text`).
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from lxml import etree

from pubmill.errors import PubmillError
from pubmill.formats.document_files import ARCHIVES, archived_texts, suffix_of
from pubmill.formats.json_text import json_items, parse_json
from pubmill.formats.safe_xml import parse_xml
from pubmill.formats.text_files import read_text
from pubmill.messages.quotations import show

Row = Mapping[str, Any]
Rows = Iterator[tuple[str, Row]]
"""Place and content of each row."""


def rows(path: Path, record: str = "") -> Rows:
    """Yield the rows of a file, by its suffix before `.gz`, or of all files of an archive, by name. `record`:
    the path of the elements in XML that are rows."""
    if suffix_of(path) == ".parquet":
        try:
            with pyarrow.parquet.ParquetFile(path) as file:
                batches = (batch.to_pylist() for batch in file.iter_batches())
                for number, row in enumerate(chain.from_iterable(batches), 1):
                    yield f"{path}: row {number}", row
        except (pyarrow.ArrowException, OSError) as error:
            raise PubmillError(
                f"{path}: not a whole Parquet file ({type(error).__name__}); fetch it again"
            ) from None
    for name, text in texts_of(path):
        suffix, where = suffix_of(Path(name)), str(path) if name == path.name else f"{path}:{name}"
        if suffix not in (*READERS, ".xml"):
            suffixes = ", ".join((*READERS, ".parquet", ".xml"))
            raise PubmillError(f"{where}: expected a file that ends with {suffixes}")
        yield from _xml_rows(text, where, record) if suffix == ".xml" else READERS[suffix](text, where)


def texts_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of a file, or of each file of an archive, by name; nothing of Parquet."""
    if path.name.endswith(ARCHIVES):
        yield from archived_texts(path).items()
    elif suffix_of(path) != ".parquet":
        yield path.name, read_text(path)


def value_at(row: Row, name: str) -> Any:
    """Return the value of a key, or of a path of keys with dots between them; None if there is none."""
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _json_rows(text: str, where: str) -> Rows:
    """Yield the objects of a list, of the only list below a key, of a mapping (its keys become `id`), or of
    the lines of the file; an object without lists or objects is a row itself."""
    items = json_items(text, where)
    one = items[0][1] if len(items) == 1 and items[0][0] == where else None
    is_row = isinstance(one, dict) and not any(isinstance(value, dict | list) for value in one.values())
    if not all(isinstance(row, dict) for _, row in items) or (one is not None and not is_row):
        raise PubmillError(f"{where}: expected a list of objects, objects by id, or an object on each line")
    yield from [(f"{where}: item 1", one)] if one is not None else items


def _csv_rows(text: str, where: str, delimiter: str = ",") -> Rows:
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
        if len(set(header)) < len(header) or len(header) < 2:
            raise PubmillError(f"{where}:1: expected at least two headings, all different")
        for cells in reader:
            place = f"{where}:{reader.line_num}"
            if cells and len(cells) != len(header):
                raise PubmillError(f"{place}: expected {len(header)} columns, found {len(cells)}")
            if cells:
                yield place, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise PubmillError(f"{where}:{reader.line_num}: not valid CSV: {error}") from None


def label_names(path: Path) -> dict[str, list[str]]:
    """Return the names of the numbered labels in a Parquet file of the `datasets` library, by column."""
    try:
        stored = (pyarrow.parquet.read_schema(path).metadata or {}).get(b"huggingface", b"{}")
    except (pyarrow.ArrowException, OSError):
        return {}
    info = parse_json(stored.decode("utf-8", "replace"), f"{path}: its metadata")
    features = info.get("info", {}).get("features", {}) if isinstance(info, dict) else {}
    inner = {name: one.get("feature", one) for name, one in features.items() if isinstance(one, dict)}
    return {name: list(one["names"]) for name, one in inner.items() if "names" in one}


def _xml_rows(text: str, where: str, record: str) -> Rows:
    root = parse_xml(text, where)
    elements = [root] if record in (".", root.tag) else root.findall(f".//{record}") if record else []
    if not elements:
        raise PubmillError(f"{where}: there is no element {show(record) or '(no `record` is given)'} in it")
    for element in elements:
        row: dict[str, str] = {}
        for name, value in _paths(element, ""):
            row[name] = f"{row[name]}\n{value}" if name in row else value
        yield f"{where}:{element.sourceline}", row


def _paths(element: etree._Element, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of an element's attributes and descendants."""
    for name, value in element.attrib.items():
        yield prefix + "@" + str(name), str(value)
    for child in element:
        if isinstance(child.tag, str):
            yield f"{prefix}{child.tag}", " ".join("".join(map(str, child.itertext())).split())
            yield from _paths(child, f"{prefix}{child.tag}/")


READERS: dict[str, Callable[[str, str], Rows]] = {
    ".jsonl": _json_rows,
    ".json": _json_rows,
    ".csv": _csv_rows,
    ".tsv": partial(_csv_rows, delimiter="\t"),
}
"""Suffix -> reader of a text with a name for messages."""
