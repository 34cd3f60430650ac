"""Compare numbers in sentences that name a model and a dataset with the tables.

A number is compared if it looks like a score (from 10 to 100, with decimals, without a unit) or a difference
(before "points", or directly after "difference" or "gap"). A score is right if it is the value, spread or
published value of a cell that its sentence names, or a difference. A difference is right if it is the one
between ours and the published value, or between two columns.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from pubmill.extras.manuscript.cell_macros import PARTS, annotated_lines
from pubmill.extras.manuscript.latex_source import ManuscriptFault, Source
from pubmill.extras.manuscript.manuscript_sentences import ManuscriptSentence, TableNames, quotes, sentences
from pubmill.extras.manuscript.printed_numbers import RIGHT, ROUNDING, PrintedNumber, numbers
from pubmill.extras.manuscript.study_tables import CellKey, Tables
from pubmill.tables.cells import Cell, Table

_UNIT = re.compile(
    r"\}?\$?(?:\\[,;: ]|\s|-|\$)*(?:[kMGT]i?B|[kKMB]|million|billion|thousand|hours?|hrs?|h|min(?:utes?)?|s|"
    r"sec(?:onds?)?|ms|days?|weeks?|months?|years?|[kMG]?Hz|k?Wh?|kg|epochs?|steps?|words?|tokens?|"
    r"subwords?|documents?|sentences?|examples?|instances?|mentions?|abstracts?|articles?|fold|times|x|GPU|parameters|USD|EUR)(?![a-zA-Z])"
    r"|\}?\$?\s*(?:\\times|×|°)"
    r"|\}?\$?(?:\\[,;: ]|\s)*\\?%\s+of\s"
)
_PERCENT_OR_UNIT = re.compile(rf"\}}?\$?(?:\\[,;: ]|\s|~)*\\?%|{_UNIT.pattern}")
_POINTS = re.compile(
    r"\}?\$?(?:\\[,;: ]|\s|-)*(?:absolute\s+|F1\s+|percentage\s+)?(?:points?|pp)(?![a-zA-Z])"
)
_GAP = re.compile(r"\b(?:differences?|gaps?)(?:\s+(?:of|is|was))?\s*:?[\s~$(+\-]*(?:\\num\{[+\-]?)?$")
_NO_SCORE = re.compile(
    r"(?:Tables?|Tabs?\.|Sections?|Sec\.|Figures?|Figs?\.|Equations?|Eqs?\.|Appendix|Chapter|Algorithm|[Vv]ersions?|v|"
    r"Python|CUDA|PyTorch|transformers|seeds?|pages?|pp\.|\\S|\\\$|[€£])\s*$"
)
_EXPONENT = re.compile(r"(?:[eE][-+]?\d|\}?\s*(?:\\cdot|\\times)\s*10)")
CONTEXT = 60
"""Characters before and after a number that decide whether it is a score, a difference or neither."""


class Quantity(NamedTuple):
    """A number of a table: its name, its exact value, and the cell that it belongs to."""

    name: str
    value: float
    key: CellKey


def check_numbers(
    source: Source, tables: Tables, names: Mapping[str, TableNames]
) -> Iterator[ManuscriptFault]:
    """Yield a finding for each number that no table has for the rows and columns named in its sentence."""
    annotated = annotated_lines(source)
    for sentence in sentences(source):
        if quotes(sentence.text, names.values()):
            continue
        scores, differences = _candidates(sentence)
        if not scores and not differences:
            continue
        values, gaps = _quantities(sentence, tables, names)
        for candidates, known in ((scores, [*values, *gaps]), (differences, gaps)):
            for number in candidates if known else ():
                if source.line_start(number.start) not in annotated:
                    yield from _finding(source, number, known)


def _candidates(sentence: ManuscriptSentence) -> tuple[list[PrintedNumber], list[PrintedNumber]]:
    """Return the numbers of a sentence that look like scores, and those that look like differences."""
    scores, differences = [], []
    for number in numbers(sentence.text, sentence.start):
        start = number.start - sentence.start
        end = start + len(number.text)
        before, after = sentence.text[max(0, start - CONTEXT) : start], sentence.text[end : end + CONTEXT]
        if not number.decimals or _NO_SCORE.search(before) or _EXPONENT.match(after):
            continue
        if _POINTS.match(after) or (_GAP.search(before) and not _PERCENT_OR_UNIT.match(after)):
            differences.append(number)
        elif 10 <= number.value <= 100 and not _UNIT.match(after):
            scores.append(number)
    return scores, differences


def _quantities(
    sentence: ManuscriptSentence, tables: Tables, names: Mapping[str, TableNames]
) -> tuple[list[Quantity], list[Quantity]]:
    """Return the numbers in the cells that a sentence names, and the differences of these cells."""
    values: list[Quantity] = []
    gaps: list[Quantity] = []
    for name, table in tables.items():
        rows = {key: None for one in names[name].rows(sentence.text) for key in one.keys}
        columns = {key: None for one in names[name].columns(sentence.text) for key in one.keys}
        for row in rows:
            cells = {column: table.cells[column][row] for column in columns}
            for column, cell in cells.items():
                for part in (PARTS["cell"], PARTS["cellpublished"], PARTS["cellspread"]):
                    if (value := part.of(cell)) is not None:
                        values.append(Quantity(part.name, value, CellKey(name, row, column)))
            gaps += _differences(name, table, row, cells)
    return values, gaps


def _differences(name: str, table: Table, row: str, cells: Mapping[str, Cell]) -> Iterator[Quantity]:
    """Yield absolute differences: ours to published, and of two named columns, or of one to all others."""
    for column, cell in cells.items():
        if cell.difference is not None:
            key = CellKey(name, row, column)
            yield Quantity("difference to the published value", abs(cell.difference), key)
    others = {column.key: table.cells[column.key][row] for column in table.columns} if len(cells) == 1 else {}
    pairs = [(one, two) for one in cells for two in others if one != two] or combinations(cells, 2)
    for one, two in pairs:
        for macro in ("cell", "cellpublished"):
            first, second = (PARTS[macro].of(table.cells[key][row]) for key in (one, two))
            if first is not None and second is not None:
                yield Quantity(f"difference to {two}", abs(first - second), CellKey(name, row, one))


def _finding(source: Source, number: PrintedNumber, known: list[Quantity]) -> Iterator[ManuscriptFault]:
    """Yield a finding unless a quantity of the tables is the number."""
    unsigned = PrintedNumber(number.text.lstrip("+-\N{MINUS SIGN}"), number.start)
    judged = [unsigned.against(abs(one.value)) for one in known]
    if RIGHT in judged:
        return
    nearest = min(known, key=lambda one: abs(abs(one.value) - unsigned.value))
    right = unsigned.rounded(abs(nearest.value))
    yield source.fault(
        number.start,
        "rounding" if ROUNDING in judged else "stale",
        f"{number.text} stands here",
        f"the tables have no such number for what this sentence names; the nearest is {right}, "
        f"the {nearest.name} of {nearest.key}",
        "Correct it, cite its source, or exempt the sentence with a comment: % pubmill: ignore",
    )
