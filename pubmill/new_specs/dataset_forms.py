"""The form of a dataset's files, guessed from their content: converter, options and writer."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pubmill.convert import bioasq
from pubmill.convert.source_files import lines
from pubmill.convert.squad import VERSIONS
from pubmill.errors import PubmillError
from pubmill.formats.document_files import ARCHIVES, suffix_of
from pubmill.formats.json_text import json_items, parse_row
from pubmill.formats.row_files import READERS, Row, rows, texts_of, value_at
from pubmill.formats.text_files import read_text
from pubmill.new_specs.annotated_forms import DOCUMENT_READINGS, documents_form, form_of_documents
from pubmill.new_specs.conll_forms import LABEL, columns_form, columns_of, refuse_columns, types_if_private
from pubmill.new_specs.file_forms import (
    BY_HAND,
    NOTHING,
    ROWS,
    FileForm,
    Given,
    Options,
    label_of,
    named_columns,
    score_of,
)
from pubmill.new_specs.row_forms import CONVERTER, joined_labels, row_form

TABLE = "pubmill.convert.tsv:read"
ID_NAMES = ("id", "_id", "ids", "uid", "guid", "index", "example_id", "row_id")
"""Names of columns and keys that should have no value twice, in lower case."""
NEGATIVES = ("none", "false", "negative", "no_relation", "other", "0", "na")
"""Labels that mean that there is no relation, in lower case."""
QUESTION_READINGS = {"list": ("list_questions", "list_f1"), "factoid": ("factoid", "mrr")}
"""Value of --as -> converter and metric of these questions; yes/no questions need a list of those of dev."""
READINGS = (*DOCUMENT_READINGS, *QUESTION_READINGS)
"""Values of --as."""
_ARROW = "a file of `save_to_disk`; write each split as Parquet (`dataset.to_parquet('train.parquet')`)"
_TABLE = "a spreadsheet; save it as CSV in UTF-8"
OTHER_FILES = {".arrow": _ARROW, ".xlsx": _TABLE, ".xls": _TABLE, ".ods": _TABLE}
"""Suffix -> what to do with files that are not read."""


def guess(files: Mapping[str, Path], given: Given = NOTHING) -> FileForm:
    """Return the form that all files (role -> file) share, without a column of ids if ids repeat in it."""
    return _with_unique_ids(_guess(files, given), files)


def _guess(files: Mapping[str, Path], given: Given) -> FileForm:
    """Return the form that all files (role -> file) share. Its `reading` (`--as`) selects an annotation of
    documents or a type of questions; None selects the proposed annotation, or the only type of questions."""
    reading = given.reading
    if reading not in (None, *READINGS):
        raise PubmillError(f"--as {reading}: expected {', '.join(READINGS)}")
    first = next(iter(files.values()))
    if first.suffix in OTHER_FILES:
        raise PubmillError(f"{first}: {OTHER_FILES[first.suffix]}")
    if first.suffix in (".parquet", ".gz") or ROWS in files:
        return row_form(files)
    if are_questions(first):
        return questions_form(files, reading)
    if form := form_of_documents(first):
        return documents_form(files, form, given)
    if given != NOTHING:
        option = f"--as {reading}" if reading else "--offsets" if given.offsets else "--misplaced"
        kinds = "documents with annotations" + (" and for BioASQ's questions" if reading else "")
        raise PubmillError(f"{first}: {option} is for {kinds}")
    if first.name.endswith(ARCHIVES):
        if all(suffix_of(Path(name)) in (*READERS, ".xml") for name, _ in texts_of(first)):
            return row_form(files)
        kinds = "PubTator, BioC, brat, rows nor BioASQ's questions"
        raise PubmillError(f"{first}: its files are neither {kinds}; {BY_HAND}")
    line = next((line for _, line in lines(first) if line.strip()), "")
    if not line:
        raise PubmillError(f"{first}: the file is empty")
    if line.startswith("###") and "\t" not in line:
        labels = {line.partition("\t")[0] for _, line in _all(files) if "\t" in line}
        converter, options = "pubmill.convert.pubmed_rct:read", {"labels": sorted(labels)}
        return FileForm("sequence", "classification", "macro_f1", converter, options)
    if first.suffix in (".csv", ".xml"):
        return row_form(files)
    if line.startswith(("{", "[")):
        return _json_form(files)
    if _is_comment(line):
        row = next((line.split("\t") for _, line in lines(first) if line and not _is_comment(line)), [""])
        if len(row) > 2 and re.fullmatch(r"1(-\d+)?", row[0]):
            return _conllu_form(files, len(row))
    if columns := columns_of([*files.values()]) or columns_of([first]):
        return columns_form(files, columns)
    return _table_form(files)


def _is_comment(line: str) -> bool:
    return line.startswith("#") and "\t" not in line


def _conllu_form(files: Mapping[str, Path], width: int) -> FileForm:
    """Return the form of CoNLL-U with BIO labels of words, in a column or under a key of the last column."""
    path = next(iter(files.values()))
    rows = [line.split("\t") for _, line in _all(files) if line and not _is_comment(line)]
    rows = [row for row in rows if row[0].isdecimal()]
    if any(len(row) != width for row in rows):
        raise PubmillError(f"{path}: CoNLL-U whose words have different numbers of columns; {BY_HAND}")
    columns: dict[int, list[str]] = {n: [row[n] for row in rows] for n in range(2, width)}
    own = [n for n, labels in columns.items() if _are_labels(labels)]
    values: dict[str, list[str]] = {}
    for key, _, value in (pair.partition("=") for misc in columns[width - 1] for pair in misc.split("|")):
        values.setdefault(key, []).append(value)
    keys = [key for key in values if _are_labels(values[key])]
    if not own and not keys:
        lacking = "neither a column nor a key of its last has BIO labels"
        raise PubmillError(f"{path}: CoNLL-U, but {lacking}; {BY_HAND}")
    place = own[0] if own else width - 1
    names = {0: "number", 1: "word", place: "label"}
    options: Options = {"labels": "as_written", "documents": "conllu"}
    options |= {"columns": [names.get(n, f"column{n + 1}") for n in range(width)]}
    options |= {} if own else {"misc": keys[0]}
    stated = columns[place] if own else values[keys[0]]
    options |= types_if_private(label.partition("-")[2] for label in stated)
    return FileForm("tokens", "ner", "entity_f1", "pubmill.convert.conll:read", options)


def _are_labels(values: Sequence[str]) -> bool:
    return all(map(LABEL.fullmatch, values)) and any(value != "O" for value in values)


def _table_form(files: Mapping[str, Path]) -> FileForm:
    """Return the form of tab-separated rows: the label is the column with the fewest values, each repeated;
    the text is the longest column; a column of different short values is the id."""
    path = next(iter(files.values()))
    rows = [line.split("\t") for _, line in lines(path)]
    if path.suffix == ".tsv" and _needs_row_reader(rows):
        return row_form(files)
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]) or len(row) < 2:
            refuse_columns(path)
            fault = "one column" if len(row) < 2 else f"{len(row)} columns, where line 1 has {len(rows[0])}"
            where = f"{path}:{number}"
            raise PubmillError(f"{where}: {fault}: neither a table, CoNLL columns nor JSON; {BY_HAND}")
    columns = list(zip(*rows[1:], strict=True))
    label = label_of({str(place): values for place, values in enumerate(columns)}, f"{path}:1", "column")
    place = int(label)
    header = rows[0] if rows[0][place] not in columns[place] else None
    names = named_columns({str(n): values for n, values in enumerate(columns)}, label, f"{path}:1")
    options: Options = {"columns": [names.get(str(n), "skip") for n in range(len(columns))]}
    titles = header or [f"column {n}" for n in range(1, len(columns) + 1)]
    unread = tuple(title for n, title in enumerate(titles) if str(n) not in names)
    options |= {"header": header} if header else {}
    labels = {line.split("\t")[place] for _, line in _all(files) if line.count("\t") >= place}
    options["labels"] = sorted(labels - ({header[place]} if header else set()))
    written: Options = {name: options[name] for name in ("columns", "header") if name in options}
    writer = None if "skip" in options["columns"] else ("pubmill.convert.tsv:write", written)
    return FileForm("sequence", "classification", "macro_f1", TABLE, options, writer, unread=unread)


def _needs_row_reader(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a table has headings, and quoted fields, scores or several labels in a field."""
    width, headings = len(rows[0]), {cell for row in rows[1:] for cell in row}
    if width < 2 or headings & set(rows[0]):
        return False
    if any(len(row) != width for row in rows):
        return any(cell.startswith('"') for row in rows for cell in row)
    columns = {str(n): values for n, values in enumerate(zip(*rows[1:], strict=True))}
    return score_of(columns) is not None or joined_labels(columns) is not None


def _json_form(files: Mapping[str, Path]) -> FileForm:
    """Return the form of JSON: SQuAD's, SciBERT's relations, or rows."""
    path = next(iter(files.values()))
    if path.suffix not in READERS:
        raise PubmillError(f"{path}: its content is JSON; rename it so that it ends with .json or .jsonl")
    text = read_text(path)
    items = [item for _, item in json_items(text, str(path))]
    if items and all(isinstance(item, dict) and "paragraphs" in item for item in items):
        version = str(parse_row(text, str(path)).get("version", "1.1"))
        writer = ("pubmill.convert.squad:write", {"version": version}) if version in VERSIONS else None
        return FileForm("span", "reading", "f1", "pubmill.convert.squad:read", {}, writer)
    if not items or not all(isinstance(item, dict) and any(map(is_marked, item.values())) for item in items):
        return row_form(files)
    every = [row for one in files.values() for _, row in rows(one)]
    if every[0].keys() != {"text", "label", "metadata"}:
        raise PubmillError(
            f"{path}: the texts mark two mentions by `<< >>` and `[[ ]]`, but the rows lack the keys of "
            f"SciBERT's form (text, label, metadata); {BY_HAND}"
        )
    labels = sorted({str(row.get("label")) for row in every})
    negative = next((one for one in labels if one.lower() in NEGATIVES), None)
    metric = "macro_f1" if negative is None else "micro_f1"
    writer = ("pubmill.convert.scibert:write", Options())
    options = {"labels": labels}
    return FileForm("sequence", "relation", metric, "pubmill.convert.scibert:read", options, writer, negative)


def is_marked(text: Any) -> bool:
    """Return whether two mentions are marked in a text, as in SciBERT's files of relations."""
    return isinstance(text, str) and all(mark in text for mark in ("<< ", " >>", "[[ ", " ]]"))


def _all(files: Mapping[str, Path]) -> Iterator[tuple[int, str]]:
    for path in files.values():
        yield from lines(path)


def are_questions(path: Path) -> bool:
    """Return whether a file, or the first of an archive, is BioASQ's JSON: questions with a type."""
    if not path.name.endswith((*ARCHIVES, ".json")):
        return False
    start = next((content for _, content in bioasq.json_files(path)), b"")[:100_000]
    return start.lstrip().startswith(b"{") and all(key in start for key in (b'"questions"', b'"type"'))


def questions_form(files: Mapping[str, Path], reading: str | None) -> FileForm:
    """Return the form of the questions that `reading` names, or of the only type that can be read."""
    first = next(iter(files.values()))
    questions = (one for path in files.values() for one in bioasq.questions(path, Counter()).values())
    types = Counter[str](one.type for one in questions)
    readings = {one: f"{types[one]} {one} questions" for one in QUESTION_READINGS if types[one]}
    if reading is None and len(readings) > 1:
        ways = " or ".join(f"--as {one} ({what})" for one, what in readings.items())
        raise PubmillError(f"{first}: BioASQ's questions of several types; choose one: {ways}")
    chosen = reading or next(iter(readings), None)
    if chosen not in readings:
        met = ", ".join(f"{n} {one}" for one, n in sorted(types.items())) or "none at all"
        raise PubmillError(
            f"{first}: no {chosen or 'list or factoid'} questions in these files; they have: {met}. "
            "For yes/no questions, write a spec like that of bioasq-yesno, which names the questions of dev"
        )
    function, metric = QUESTION_READINGS[chosen]
    others = {one: what for one, what in readings.items() if one != chosen}
    return FileForm("span", chosen, metric, f"pubmill.convert.bioasq:{function}", others=others)


def _with_unique_ids(form: FileForm, files: Mapping[str, Path]) -> FileForm:
    """Return the form without its column or key of ids if a split has one of them twice, and with a note."""
    if not form.converter.startswith((TABLE, CONVERTER)):
        return form
    options, columns = form.options, form.options.get("columns", ())
    key: str | None = options.get("id") or next((key for key in form.unread if key.lower() in ID_NAMES), None)
    if form.converter == TABLE and "id" in columns:
        key = _headings(form)[columns.index("id")]
    found = defaultdict[str, list[str]](list)
    for role, path in files.items() if key else ():
        for row in _rows(form, path):
            named = options["split_values"].get(str(row[options["split_column"]])) if role == ROWS else role
            found[named.partition("_")[0]].append(str(value_at(row, str(key))))
    repeated = []
    for split, values in found.items():
        if number := len(values) - len(set(values)):
            repeated.append(f"{number:,} of {len(values):,} rows of {split} have the {key} of another")
    if not repeated:
        return form
    notes = tuple(f"{one}; examples are numbered instead" for one in repeated)
    options = {name: value for name, value in options.items() if name != "id"}
    writer, unread = form.writer, tuple(dict.fromkeys([*form.unread, str(key)]))
    if "id" in columns:
        options["columns"] = ["skip" if one == "id" else one for one in columns]
        writer = None
    return replace(form, options=options, writer=writer, unread=unread, notes=(*form.notes, *notes))


def _headings(form: FileForm) -> list[str]:
    columns = form.options["columns"]
    return form.options.get("header") or [f"column {n}" for n in range(1, len(columns) + 1)]


def _rows(form: FileForm, path: Path) -> Iterator[Row]:
    if form.converter != TABLE:
        yield from (row for _, row in rows(path, form.options.get("record", "")))
        return
    for number, line in lines(path):
        if number > 1 or "header" not in form.options:
            yield dict(zip(_headings(form), line.split("\t"), strict=False))
