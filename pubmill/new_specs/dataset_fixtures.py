"""Small files of a dataset's form with masked text."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pubmill.convert.conll import SEPARATORS
from pubmill.convert.source_files import lines
from pubmill.formats.json_text import json_line, read_rows
from pubmill.formats.pubtator import blocks
from pubmill.formats.text_files import read_lines
from pubmill.new_specs.conll_forms import divides
from pubmill.new_specs.file_forms import FileForm


def masked(text: str) -> str:
    """Return a text without its words: letters become x or X, digits 0."""
    return re.sub(r"[^\W\d_]", lambda match: "X" if match[0].isupper() else "x", re.sub(r"\d", "0", text))


TEXTS = ("text", "text_pair", "words", "question", "context", "answers", "sentences")
"""Fields of examples with text."""


def masked_example(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example with masked text."""
    return {name: _masked_value(value) if name in TEXTS else value for name, value in row.items()}


def _masked_value(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [_masked_value(one) for one in value]
    return {key: _masked_value(one) for key, one in value.items()} if isinstance(value, dict) else value


def fixture(path: Path, form: FileForm) -> str | None:
    """Return a small file of the form with masked text; None if the form has no mask. CoNLL: first sentence
    and the next with a mention; PubTator: the first annotated document; else the first row of each label."""
    if form.options.get("form") == "pubtator" and "offsets" not in form.options:  # masks keep characters only
        return _masked_document(path)
    if form.converter.endswith("pubmed_rct:read"):
        return _masked_abstract(path, form.options["labels"])
    if form.converter.endswith("conll:read") and form.options.get("documents") != "conllu":
        return _masked_sentences(path, form.options)
    if form.converter.endswith("tsv:read"):
        return _masked_rows(path, form.options)
    is_lines = form.converter.endswith("row_examples:sequence") and path.suffix == ".jsonl"
    return _masked_objects(path, form.options) if is_lines else None


def _masked_document(path: Path) -> str:
    """Return the first document with mentions; masked text has the same length, so offsets stay valid."""
    annotated = (block for block in blocks(read_lines(path)) if any("\t" in line for _, line in block))
    masked_lines = []
    for _, line in next(annotated):
        name, bar, text = line.partition("|")
        cells = line.split("\t")
        if bar and "\t" not in name:
            line = f"{name}|{text[:2]}{masked(text[2:])}"
        elif len(cells) > 3 and cells[1].isdecimal():
            line = "\t".join([*cells[:3], masked(cells[3]), *cells[4:6], *map(masked, cells[6:])])
        masked_lines.append(line)
    return "\n".join(masked_lines) + "\n\n"


def _masked_abstract(path: Path, labels: Sequence[str]) -> str:
    """Return a mark with the first sentence of each label."""
    kept = dict[str, str]()
    for _, line in lines(path):
        label, tab, text = line.partition("\t")
        if tab:
            kept.setdefault(label, f"{label}\t{masked(text)}")
    return "\n".join(["###1", *(kept[label] for label in labels if label in kept)]) + "\n\n"


def _masked_sentences(path: Path, options: Mapping[str, Any]) -> str | None:
    columns = options.get("columns", ["word", "label"])
    if columns[0] != "word":
        return None
    place, outside = columns.index("label"), options.get("outside", "O")
    mark = SEPARATORS[options.get("separator", "tab")]
    sentences, current, marked = list[tuple[list[str], bool]](), list[str](), False
    for line in [*(line for _, line in lines(path)), ""]:
        if not divides(line):
            word, rest = re.match(r"\s*(\S+)(.*)", line).groups()  # type: ignore[union-attr]
            current.append(masked(word) + rest)
            marked |= line.split(mark)[place] != outside
        elif current:
            sentences.append((current, marked))
            current, marked = [], False
    chosen = sentences[:1] + [one for one in sentences[1:] if one[1]][:1]
    return "".join("\n".join(one) + "\n\n" for one, _ in chosen)


def _masked_rows(path: Path, options: Mapping[str, Any]) -> str:
    columns: list[str] = options["columns"]
    kept = dict[str, str]()
    for number, line in lines(path):
        cells = line.split("\t")
        if number == 1 and "header" in options:
            kept[""] = line
            continue
        pairs = zip(columns, cells, strict=True)
        shown = [masked(cell) if what in ("text", "skip") else cell for what, cell in pairs]
        kept.setdefault(cells[columns.index("label")], "\t".join(shown))
    return "".join(f"{line}\n" for line in kept.values())


def _masked_objects(path: Path, options: Mapping[str, Any]) -> str | None:
    kept = dict[str, dict[str, object]]()
    keys = {options[name]: name for name in ("text", "text_pair", "label", "id") if name in options}
    if "choices" in options or "split_column" in options:
        return None
    for _, row in read_rows(path):
        if not keys.keys() <= row.keys():
            return None
        shown = {key: masked(row[key]) if name in TEXTS else row[key] for key, name in keys.items()}
        kept.setdefault(str(row[options["label"]]), shown)
    return "".join(map(json_line, kept.values()))
