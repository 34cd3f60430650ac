"""Check the macros in a manuscript: their keys, cells without a value, and the age of the macros' file."""

import re
from collections.abc import Iterator, Sequence

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.cell_macros import NONE, PARTS, read_macros
from pubmill.extras.manuscript.latex_source import ManuscriptFault, Source, arguments
from pubmill.extras.manuscript.printed_numbers import numbers
from pubmill.extras.manuscript.study_tables import CellKey, Tables, cell_of
from pubmill.extras.manuscript.tabular_check import number_findings

_USE = re.compile(rf"\\({'|'.join(sorted([*PARTS, 'celllink'], key=len, reverse=True))})(?![a-zA-Z])")


def uses(code: str) -> Iterator[tuple[int, str, CellKey]]:
    """Yield offset, macro and key of each macro of a cell; keys made by macros are left to LaTeX."""
    for match in _USE.finditer(code):
        spans = arguments(code, match.end(), 3)
        if spans:
            names = [code[start:end] for start, end in spans]
            if not any(mark in name for name in names for mark in "#\\{}"):
                yield match.start(), match[1], CellKey(*(" ".join(name.split()) for name in names))


def check_macros(source: Source, tables: Tables) -> Iterator[ManuscriptFault]:
    """Yield a finding for each macro in a file that names no cell, or a part that the cell does not have."""
    for start, macro, key in uses(source.code):
        try:
            cell = cell_of(tables, key)
        except PubmillError as error:
            yield source.fault(start, "unknown", rf"\{macro}{key}", str(error), "Correct the key")
            continue
        part = PARTS.get(macro, PARTS["cell"])
        if part.text(cell) == NONE:
            expected = f"the cell has no {part.name}" + (f" ({cell.missing})" if cell.missing else "")
            yield source.fault(start, "empty", rf"\{macro}{key}", expected, "Remove it, or make the run")


def check_age(source: Source, tables: Tables, used: Sequence[CellKey]) -> Iterator[ManuscriptFault]:
    """Yield a finding for each cell that the manuscript uses and that the macros' file has differently."""
    written = dict(read_macros(source.text))
    for key in dict.fromkeys(used):
        try:
            cell = cell_of(tables, key)
        except PubmillError:
            continue  # reported at the macro
        now = {name: part.text(cell) for name, part in PARTS.items()}
        then = written.get(key)
        if then != now:
            changed = [name for name in now if then is None or then[name] != now[name]]
            place = max(source.text.find(f"\\pubmillcell{key}"), 0)
            found = f"{key} is absent" if then is None else f"{key} has {_shown(then, changed)}"
            expected = f"the table has {_shown(now, changed)}"
            yield source.fault(place, "macros", found, expected, "Write the file again by pubmill tex")


def _shown(texts: dict[str, str], names: Sequence[str]) -> str:
    return ", ".join(rf"\{name} {texts[name]}" for name in names)


def check_annotated(source: Source, tables: Tables) -> Iterator[ManuscriptFault]:
    r"""Yield the findings on numbers that a comment of macros names (`84.52 % \cell{..}{..}{..}`)."""
    for start, text in source.comments:
        named = list(uses(text))
        line = source.line_start(start)
        printed = numbers(source.code[line:start], line)
        if not named or not printed or text.lstrip().startswith("pubmill:"):  # no number: commented-out code
            continue
        if len(printed) < len(named):
            found, expected = f"{len(printed)} numbers", f"the comment names {len(named)} cells"
            yield source.fault(start, "mark", found, expected, "Name one cell for each number")
            continue
        for number, (_, macro, key) in zip(printed[-len(named) :], named, strict=True):
            try:
                exact = PARTS.get(macro, PARTS["cell"]).of(cell_of(tables, key))
            except PubmillError as error:
                yield source.fault(start, "unknown", rf"\{macro}{key}", str(error), "Correct the key")
                continue
            if exact is None:
                yield source.fault(
                    number.start, "empty", number.text, f"{key} has no such number", "Remove it"
                )
            else:
                yield from number_findings(source, number, exact, key, macro)


def annotated_lines(source: Source) -> set[int]:
    """Return the offsets of the lines whose numbers are named by a comment of macros."""
    return {source.line_start(one.start) for one in source.comments if any(uses(one.text))}
