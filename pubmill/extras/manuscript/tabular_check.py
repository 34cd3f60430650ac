"""Compare the marked tabulars of a manuscript with the tables: numbers, spreads and bold type."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.manuscript import latex_source
from pubmill.extras.manuscript.cell_macros import PARTS, number_findings
from pubmill.extras.manuscript.latex_source import ManuscriptFault, Mark, Source
from pubmill.extras.manuscript.printed_numbers import PrintedNumber, numbers
from pubmill.extras.manuscript.study_tables import CellKey, Tables, cell_of
from pubmill.tables.cells import Cell, Table

_ROW_END = re.compile(r"\\\\\*?\s*(?:\[[^\]\n]*\])?|\\tabularnewline(?![a-zA-Z])")
_BEFORE = re.compile(
    r"\\(?:toprule|midrule|hline|endhead|endfirsthead)(?![a-zA-Z])"
    r"|\\(?:cmidrule|cline)(?:\([^()]*\))?\{[^{}]*\}|\\begin\{[a-zA-Z]*tab[a-zA-Z]*\*?\}"
)
_NOT_TEXT = re.compile(
    r"\\(?:[a-z]*cite[a-z]*|[a-z]*ref|label|cellcolor|rowcolor|color|hspace|vspace|textsuperscript|footnotemark|"
    r"tnote|hphantom|phantom|footnote)\*?(?:\[[^\]]*\])*(?=\{)|\\textcolor(?:\[[^\]]*\])?(?=\{)|\^(?=\{)"
)
_SUPERSCRIPT = re.compile(r"\^(?:\\[a-zA-Z]+|[^{\s])")
_SPREAD = re.compile(r"(?:\\pm|\\textpm|±)(?![a-zA-Z])[\s{}$~\\,;!]*$")
_UNCERTAIN = re.compile(r"\((\d{1,4}|\d{1,4}\.\d{1,6})\)")
_SERIES = re.compile(r"\\fontseries\{[a-z]*b[a-z]*\}\s*\\selectfont(?![a-zA-Z])")
_MINUS = re.compile(
    r"(?:\$-\$|\\ensuremath\{-\}|\\textminus(?:\{\})?|\\cellminus(?:\{\})?|(?<!-)--(?!-))\s*(?=\d)"
)
_SPAN = re.compile(r"\s*\\multicolumn\s*\{\s*(\d{1,2})\s*\}")
_BOLD = {"textbf", "mathbf", "bm", "boldsymbol", "bfseries", "bf", "boldmath", "best"}
_DECLARATIONS = {"bfseries", "bf", "boldmath"}
"""Macros that have no argument and change all that follows in their group."""
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|def|DeclareRobustCommand)\*?\s*\{?\\([a-zA-Z]+)\}?"
)
_PARTS = {"value": "cell", "spread": "cellspread", "published": "cellpublished", "difference": "celldiff"}
"""Name of a part in a mark -> its macro."""


class TabularCell(NamedTuple):
    """A cell. `start`: the offset of its text; `number`: its first number; `spread`: a number after ± or, as
    siunitx writes it, in parentheses; `bold`: whether the first number, or a macro of a cell, is in bold;
    `macro`: whether it has such a macro; `blank`: whether it has neither letters nor digits."""

    start: int
    number: PrintedNumber | None
    spread: PrintedNumber | None
    bold: bool
    macro: bool
    blank: bool


class MarkedCell(NamedTuple):
    """A cell of a tabular and the cell of the table that its marks name; `part`: the macro of its part."""

    key: CellKey
    part: str
    printed: TabularCell
    cell: Cell


def check_tabulars(source: Source, tables: Tables) -> Iterator[ManuscriptFault]:
    """Yield the findings in the marked tabulars of a file."""
    bold = bold_macros(source.code)
    table, across, together = "", Mark(0, "", ""), list[MarkedCell]()
    for mark in source.marks:
        if mark.kind in ("table", "columns", "rows"):
            yield from _bold_findings(source, tables, together)
            together = []
        if mark.kind == "table":
            table, across = mark.names.split(",")[0].strip(), Mark(0, "", "")
            if table not in tables:
                yield _unknown(source, mark, f"table {table}", "pubmill: table NAME of a table of this study")
        elif mark.kind in ("columns", "rows"):
            across = mark
        elif mark.kind in ("row", "column"):
            try:
                marked = _marked_cells(source, tables, table, across, mark, bold)
            except PubmillError as error:
                yield _unknown(source, mark, str(error), "correct the mark, or export the tabular again")
                continue
            together += marked
            yield from _number_findings(source, marked)
    yield from _bold_findings(source, tables, together)


def _unknown(source: Source, mark: Mark, found: str, to_do: str) -> ManuscriptFault:
    return source.fault(mark.start, "unknown", found, "the mark names no such thing", f"Write {to_do}")


def _marked_cells(
    source: Source, tables: Tables, table: str, across: Mark, mark: Mark, bold: frozenset[str]
) -> list[MarkedCell]:
    """Return the cells of a row of a tabular; a `PubmillError` if its marks do not fit."""
    start, end = row_before(source.code, mark.start)
    _, *printed = cells(source.code, start, end, bold)
    names = across.names.replace(",", " ").split()
    if not table or not names:
        raise PubmillError(f"{mark.kind} {mark.names} follows no mark of a table and its columns or rows")
    if len(printed) != len(names):
        raise PubmillError(
            f"{mark.kind} {mark.names} has {len(printed)} cells after the first, but there are {len(names)} "
            f"{across.kind}"
        )
    marked = []
    for name, one in zip(names, printed, strict=True):
        if name != "-":  # not compared
            other, _, part = name.partition(":")
            row, column = (mark.names, other) if mark.kind == "row" else (other, mark.names)
            if part and part not in _PARTS:
                raise PubmillError(f"{name}: the part {part} is none of {', '.join(_PARTS)}")
            key = CellKey(table, row, column)
            marked.append(MarkedCell(key, _PARTS[part or "value"], one, cell_of(tables, key)))
    return marked


def _number_findings(source: Source, marked: Sequence[MarkedCell]) -> Iterator[ManuscriptFault]:
    """Yield findings on numbers that differ, and on those that only one of the tabular and the table has."""
    for one in marked:
        parts = {one.part: one.printed.number}
        if one.part == "cell" and one.printed.number and one.printed.spread and one.cell.value is not None:
            parts["cellspread"] = one.printed.spread
        for part, number in parts.items() if not one.printed.macro else ():
            exact, name = PARTS[part].of(one.cell), PARTS[part].name
            if number and exact is not None:
                yield from number_findings(source, number, exact, one.key, part)
            elif number:
                why = f" ({one.cell.missing})" if one.cell.missing else ""
                found, expected = f"{number.text} stands here", f"{one.key} has no {name}{why}"
                yield source.fault(number.start, "empty", found, expected, "Write a dash, or make the run")
            elif exact is not None:
                found, expected = "no number stands here", f"the {name} of {one.key} is {exact:.2f}"
                yield source.fault(one.printed.start, "stale", found, expected, f"Write {exact:.2f}")


def _bold_findings(source: Source, tables: Tables, marked: Sequence[MarkedCell]) -> Iterator[ManuscriptFault]:
    """Yield findings on bold type, if the tabular uses it at all."""
    values = [one for one in marked if one.part == "cell" and not one.printed.blank]
    if not any(one.printed.bold for one in values):
        return
    for row in dict.fromkeys(one.key.row for one in values):
        of_row = [one for one in values if one.key.row == row]
        yield from _row_bold_findings(source, tables[of_row[0].key.table], row, of_row)


def _row_bold_findings(
    source: Source, table: Table, row: str, cells: list[MarkedCell]
) -> Iterator[ManuscriptFault]:
    decimals = min([one.printed.number.decimals for one in cells if one.printed.number], default=2)
    [table_row] = (one for one in (*table.rows, *table.composites) if one.key == row)
    best = table.best_columns(table_row, [one.key.column for one in cells], decimals)
    computed = {column.key for column in table.columns if column.sources}
    for one in cells if best else ():
        if one.printed.bold and one.key.column not in best | computed:
            yield _bold_finding(source, one, "is in bold", best, table, "Remove the bold")
    right = [one for one in cells if one.key.column in best]
    if not any(one.printed.bold for one in right):
        for one in right:
            yield _bold_finding(source, one, "is not in bold", best, table, r"Write it in \textbf")


def _bold_finding(
    source: Source, one: MarkedCell, state: str, best: set[str], table: Table, to_do: str
) -> ManuscriptFault:
    labels = ", ".join(column.label for column in table.columns if column.key in best)
    values = ", ".join(sorted(f"{table.cells[column][one.key.row].value:.2f}" for column in best))
    number = one.printed.number
    start, shown = (number.start, number.text) if number else (one.printed.start, one.key)
    return source.fault(start, "bold", f"{shown} {state}", f"the best here is {labels} ({values})", to_do)


def bold_macros(code: str) -> frozenset[str]:
    """Return the macros that set bold type, with those that the code defines by them."""
    macros = set(_BOLD)
    for definition in _DEFINED.finditer(code):
        body = code[definition.end() : definition.end() + 200].partition("\n")[0]
        if any(re.search(rf"\\{name}(?![a-zA-Z])", body) for name in _BOLD):
            macros.add(definition[1])
    return frozenset(macros)


def row_before(code: str, offset: int) -> tuple[int, int]:
    """Return the span of the tabular row that ends before `offset`, where the mark of the row begins."""
    end = len(code[:offset].rstrip())
    row_ends = list(_ROW_END.finditer(code, max(0, code.rfind("\n", 0, end)), end))
    if row_ends and not code[row_ends[-1].end() : end].strip():
        end = row_ends[-1].start()
    start = max(0, end - 20_000)
    for pattern in (_ROW_END, _BEFORE):
        for before in pattern.finditer(code, start, end):
            start = max(start, before.end())
    return start, end


def cells(code: str, start: int, end: int, bold: frozenset[str]) -> list[TabularCell]:
    """Return the cells of a row; a cell over several columns is followed by blank ones."""
    row = []
    for first, last in _spans(code, start, end):
        row.append(_cell(code[first:last], first, bold))
        wide = _SPAN.match(code, first, last)
        more = int(wide[1]) - 1 if wide else 0
        row += [TabularCell(last, None, None, False, False, True)] * more
    return row


def _spans(code: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of a row's cells, which are separated by each `&` outside of groups."""
    depth, first = 0, start
    for match in re.compile(r"\\.|[{}&]", re.DOTALL).finditer(code, start, end):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif match[0] == "&" and depth <= 0:
            yield first, match.start()
            first = match.end()
    yield first, end


def _cell(text: str, start: int, bold: frozenset[str]) -> TabularCell:
    shown = _shown_text(text)
    macro = re.search(r"\\cell(?:link|exact)?\s*\{", text)
    printed = numbers(shown, start)
    spreads = [one for one in printed if _SPREAD.search(shown[: one.start - start])]
    values = [one for one in printed if one not in spreads]
    number = None if macro or not values else values[0]
    place = macro.start() if macro else number.start - start if number else None
    blank = not re.search(r"[A-Za-z0-9]", re.sub(r"\\[a-zA-Z]+", "", shown)) and not macro
    is_bold = place is not None and _is_bold(text, place, bold)
    spread = spreads[0] if spreads else _uncertainty(shown, number, start)
    return TabularCell(start, number, spread, is_bold, bool(macro), blank)


def _uncertainty(text: str, number: PrintedNumber | None, start: int) -> PrintedNumber | None:
    """Return the spread in parentheses directly after a number, as siunitx writes it: 84.5(3), 84.5(0.3)."""
    end = number.start - start + len(number.text) if number else 0
    match = _UNCERTAIN.match(text, end)
    if number is None or not number.decimals or match is None:
        return None
    digits = match[1] if "." in match[1] else f"{int(match[1]) / 10**number.decimals:.{number.decimals}f}"
    return PrintedNumber(digits, start + match.start(1))


def _shown_text(text: str) -> str:
    """Return a cell's text with plain minus signs, and spaces for arguments such as citations and colours."""
    hidden = [match.span() for match in _SUPERSCRIPT.finditer(text)]
    for match in _NOT_TEXT.finditer(text):
        hidden.append((match.start(), latex_source.group_end(text, match.end()) or len(text)))
    if wide := _SPAN.match(text):
        width = latex_source.arguments(text, wide.end(), 1)
        hidden.append((wide.start(), 1 + (width[0][1] if width else wide.end())))
    shown = latex_source.blanked(text, hidden)
    return _MINUS.sub(lambda match: " " * (len(match[0]) - 1) + "-", shown)


def _is_bold(text: str, place: int, bold: frozenset[str]) -> bool:
    """Return whether the text at an offset is in the argument of a bold macro, or after one in its group."""
    text = _SERIES.sub(lambda match: "\\bfseries".ljust(len(match[0])), text)
    for match in re.finditer(r"\\([a-zA-Z]+)\s*", text):
        if match.start() >= place or match[1] not in bold:
            continue
        following = text[match.end() : match.end() + 2]
        if following[:1] == "{" and following != "{}" and match[1] not in _DECLARATIONS:
            if (latex_source.group_end(text, match.end()) or len(text)) > place:
                return True
        elif _same_group(text, match.end(), place):
            return True
    return False


def _same_group(text: str, start: int, place: int) -> bool:
    """Return whether no group that is open at `start` is closed before `place`."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start, place):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        if depth < 0:
            return False
    return True
