"""The form of a dataset's files, guessed from their content: converter, options, and the form's fixture."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from pubmill.convert.source_files import lines
from pubmill.convert.squad import VERSIONS
from pubmill.errors import PubmillError

MOST_LABELS = 50
"""A column or key with more different values than this is no label."""
LABEL = re.compile(r"O|[BIESLU](-\S+)?")
SCHEMES = {frozenset("ES"): "iobes", frozenset("LU"): "bioul"}
"""Prefixes that only one label scheme has."""
BY_HAND = "write the spec by hand: docs/datasets.md lists the known formats"


@dataclass(frozen=True)
class FileForm:
    """How a dataset's files are read. `writer`: the function and options that may write the same bytes."""

    kind: str
    task: str
    metric: str
    converter: str
    options: dict[str, Any] = field(default_factory=dict)
    writer: tuple[str, dict[str, Any]] | None = None


def guess(files: Mapping[str, Path]) -> FileForm:
    """Return the form of a dataset's files by split; they must share it."""
    first = next(iter(files.values()))
    line = next((line for _, line in lines(first) if line.strip()), "")
    if not line:
        raise PubmillError(f"{first}: the file is empty")
    if line.startswith(("{", "[")):
        return _json_form(files)
    return _columns_form(files) if _is_conll(first) else _table_form(files)


def _is_conll(path: Path) -> bool:
    """Return whether a file's lines are a word and, at their end, a label; blank lines divide sentences."""
    rows = [line.split("\t" if "\t" in line else " ") for _, line in lines(path) if not _divides(line)]
    alike = all(len(row) == len(rows[0]) > 1 and LABEL.fullmatch(row[-1]) is not None for row in rows)
    return alike and bool(rows)


def _divides(line: str) -> bool:
    return not line.strip() or line.startswith("-DOCSTART-")


def _columns_form(files: Mapping[str, Path]) -> FileForm:
    row = next(line for _, line in lines(next(iter(files.values()))) if not _divides(line))
    separator = "tab" if "\t" in row else "blank"
    width = len(re.split("\t| ", row))
    prefixes = {_last(line)[:1] for _, line in _all(files) if not _divides(line)} - {"O"}
    options: dict[str, Any] = {"labels": "as_written"}
    options |= {"separator": separator} if separator != "tab" else {}
    options |= {"columns": ["word", *(f"column{n}" for n in range(2, width)), "label"]} if width > 2 else {}
    scheme = next((scheme for marks, scheme in SCHEMES.items() if marks & prefixes), None)
    scheme = "io" if prefixes == {"I"} else scheme
    options |= {"scheme": scheme} if scheme else {}
    writer = ("pubmill.convert.conll:write", dict[str, Any]()) if separator == "tab" else None
    return FileForm("tokens", "ner", "entity_f1", "pubmill.convert.conll:read", options, writer)


def _last(line: str) -> str:
    return re.split("\t| ", line)[-1]


def _table_form(files: Mapping[str, Path]) -> FileForm:
    """Return the form of tab-separated rows: the label is the column with the fewest values, each repeated;
    the text is the longest column; a column of different short values is the id."""
    path = next(iter(files.values()))
    rows = [line.split("\t") for _, line in lines(path)]
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]) or len(row) < 2:
            raise PubmillError(
                f"{path}:{number}: {len(row)} columns, where line 1 has {len(rows[0])}: neither a table, "
                f"CoNLL columns nor JSON; {BY_HAND}"
            )
    columns = list(zip(*rows[1:], strict=True))
    label = _label_of({str(place): values for place, values in enumerate(columns)}, f"{path}:1", "column")
    place = int(label)
    header = rows[0] if rows[0][place] not in columns[place] else None
    names = _named({str(n): values for n, values in enumerate(columns)}, label)
    options: dict[str, Any] = {"columns": [names.get(str(n), "skip") for n in range(len(columns))]}
    options |= {"header": header} if header else {}
    labels = {line.split("\t")[place] for _, line in _all(files) if line.count("\t") >= place}
    options["labels"] = sorted(labels - ({header[place]} if header else set()))
    written: dict[str, Any] = {name: options[name] for name in ("columns", "header") if name in options}
    writer = None if "skip" in options["columns"] else ("pubmill.convert.tsv:write", written)
    return FileForm("sequence", "classification", "macro_f1", "pubmill.convert.tsv:read", options, writer)


def _json_form(files: Mapping[str, Path]) -> FileForm:
    path = next(iter(files.values()))
    if not _is_json(next(line for _, line in lines(path))):
        return _squad_form(path)
    rows = list(_json_rows(path))
    if len(rows) == 1 and isinstance(rows[0].get("data"), list):
        return _squad_form(path)
    if not all(row.keys() >= rows[0].keys() for row in rows):
        raise PubmillError(f"{path}: its lines are not JSON objects with the same keys; {BY_HAND}")
    values = {key: tuple(str(row[key]) for row in rows) for key in rows[0]}
    label = _label_of(values, f"{path}:1", "key")
    names = {name: key for key, name in _named(values, label).items()}
    labels = sorted({str(row.get(label)) for one in files.values() for row in _json_rows(one)})
    options = {**names, "labels": labels}
    return FileForm("sequence", "classification", "macro_f1", "pubmill.convert.jsonl:read", options)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object on each line of a JSON lines file."""
    for number, line in lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise PubmillError(f"{path}:{number}: not JSON, unlike the lines before it") from None
        if not isinstance(row, dict):
            raise PubmillError(f"{path}:{number}: its lines are not JSON objects; {BY_HAND}")
        yield row


def _squad_form(path: Path) -> FileForm:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise PubmillError(f"{path}: not JSON ({error}); {BY_HAND}") from None
    if not (isinstance(found, dict) and isinstance(found.get("data"), list)):
        raise PubmillError(f"{path}: JSON, but neither JSON lines nor SQuAD's form; {BY_HAND}")
    version = str(found.get("version", "1.1"))
    writer = ("pubmill.convert.squad:write", {"version": version}) if version in VERSIONS else None
    return FileForm("span", "reading", "f1", "pubmill.convert.squad:read", {}, writer)


def _label_of(values: Mapping[str, Sequence[str]], where: str, what: str) -> str:
    """Return the column or key with the fewest different values, of which none is long and most repeat."""
    sizes = {
        name: len(set(found))
        for name, found in values.items()
        if 1 < len(set(found)) <= min(MOST_LABELS, len(found) // 2) and max(map(len, found)) <= MOST_LABELS
    }
    if not sizes:
        raise PubmillError(f"{where}: no {what} looks like a label (few, short, repeated values); {BY_HAND}")
    return min(sizes, key=sizes.__getitem__)


def _named(values: Mapping[str, Sequence[str]], label: str) -> dict[str, str]:
    """Return column or key -> its content: label, text, and id if a short one has no value twice."""
    others = {name: found for name, found in values.items() if name != label}
    if not others:
        return {label: "label"}
    text = max(others, key=lambda name: fmean(map(len, others[name])))
    ids = [
        name
        for name, found in others.items()
        if name != text and Counter(found).most_common(1)[0][1] == 1 and max(map(len, found)) <= MOST_LABELS
    ]
    return {label: "label", text: "text", **({ids[0]: "id"} if ids else {})}


def _all(files: Mapping[str, Path]) -> Iterator[tuple[int, str]]:
    for path in files.values():
        yield from lines(path)


def masked(text: str) -> str:
    """Return a text without its words: letters become x or X, digits 0."""
    return re.sub(r"[^\W\d_]", lambda found: "X" if found[0].isupper() else "x", re.sub(r"\d", "0", text))


def fixture(path: Path, form: FileForm) -> str | None:
    """Return a small file of the same form with masked text; None for SQuAD's form.

    Of CoNLL columns it has the first sentence and the first further one with a mention; else the heading
    and the first row of each label.
    """
    if form.kind == "tokens":
        return _masked_sentences(path)
    if form.converter.endswith("tsv:read"):
        return _masked_rows(path, form.options)
    return _masked_objects(path, form.options) if form.converter.endswith("jsonl:read") else None


def _masked_sentences(path: Path) -> str:
    sentences, current = list[list[str]](), list[str]()
    for line in [*(line for _, line in lines(path)), ""]:
        if not _divides(line):
            word, rest = re.match(r"(\S+)(.*)", line).groups()  # type: ignore[union-attr]
            current.append(masked(word) + rest)
        elif current:
            sentences.append(current)
            current = []
    chosen = sentences[:1] + [one for one in sentences[1:] if any(_last(row) != "O" for row in one)][:1]
    return "".join("\n".join(one) + "\n\n" for one in chosen)


def _masked_rows(path: Path, options: Mapping[str, Any]) -> str:
    columns: list[str] = options["columns"]
    kept = dict[str, str]()
    for number, line in lines(path):
        cells = line.split("\t")
        if number == 1 and "header" in options:
            kept[""] = line
            continue
        shown = [
            masked(cell) if what in ("text", "skip") else cell
            for what, cell in zip(columns, cells, strict=True)
        ]
        kept.setdefault(cells[columns.index("label")], "\t".join(shown))
    return "".join(f"{line}\n" for line in kept.values())


def _masked_objects(path: Path, options: Mapping[str, Any]) -> str:
    kept = dict[str, dict[str, Any]]()
    for _, line in lines(path):
        row = json.loads(line)
        shown = {options["text"]: masked(row[options["text"]]), options["label"]: row[options["label"]]}
        shown |= {options["id"]: row[options["id"]]} if "id" in options else {}
        kept.setdefault(str(row[options["label"]]), shown)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept.values())
