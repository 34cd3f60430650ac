"""Identifiers of rows that repeat: they are not read as ids of examples, and counted in a note."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pubmill.convert.source_files import lines
from pubmill.errors import PubmillError
from pubmill.formats.row_files import rows, value_at
from pubmill.new_specs.file_forms import ROWS, FileForm

TABLE, ROW_FORMS = "pubmill.convert.tsv:read", "pubmill.convert.row_examples"
NAMES = ("id", "_id", "ids", "uid", "guid", "index", "example_id", "row_id")
"""Names of columns and keys that should have no value twice, in lower case."""


def with_unique_ids(form: FileForm, files: Mapping[str, Path]) -> FileForm:
    """Return the form without its column or key of ids if a split has one of them twice, and with a note."""
    if not form.converter.startswith((TABLE, ROW_FORMS)):
        return form
    key = _key(form)
    found = defaultdict[str, list[str]](list)
    for role, path in files.items() if key else ():
        for split, value in _values(form, role, path, str(key)):
            found[split].append(value)
    repeated = []
    for split, values in found.items():
        if number := len(values) - len(set(values)):
            repeated.append(f"{number:,} of {len(values):,} rows of {split} have the {key} of another")
    if not repeated:
        return form
    notes = tuple(f"{one}; examples are numbered instead" for one in repeated)
    options = {name: value for name, value in form.options.items() if name != "id"}
    writer, unread = form.writer, tuple(dict.fromkeys([*form.unread, str(key)]))
    if "id" in options.get("columns", ()):
        options["columns"] = ["skip" if one == "id" else one for one in options["columns"]]
        writer = None
    return replace(form, options=options, writer=writer, unread=unread, notes=(*form.notes, *notes))


def _key(form: FileForm) -> str | None:
    """Return the key of ids; for a table, the heading or the number of the column."""
    if form.converter == TABLE and "id" in form.options["columns"]:
        place = form.options["columns"].index("id")
        return str(form.options.get("header", {place: f"column {place + 1}"})[place])
    return form.options.get("id") or next((key for key in form.unread if key.lower() in NAMES), None)


def _values(form: FileForm, role: str, path: Path, key: str) -> Iterator[tuple[str, str]]:
    """Yield the split and the id of each row of a file."""
    split, options = role.partition("_")[0], form.options
    if form.converter == TABLE:
        header = options.get("header")
        place = header.index(key) if header else int(key.rpartition(" ")[2]) - 1
        for number, line in lines(path):
            cells = line.split("\t")
            if (number > 1 or not header) and len(cells) <= place:
                raise PubmillError(
                    f"{path}:{number}: expected a column {place + 1}, found {len(cells)} in all"
                )
            if number > 1 or not header:
                yield split, cells[place]
        return
    for _, row in rows(path, options.get("record", "")):
        value = row.get(options.get("split_column", ""))
        name = options["split_values"].get(str(value), "") if role == ROWS else split
        yield name, str(value_at(row, key))
