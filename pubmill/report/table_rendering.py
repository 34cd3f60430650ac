r"""Renderers of result tables, fact tables and comparisons of models; all text in them is escaped.

A table in LaTeX is a float for `\input`, with caption and label, no wider than the text. It needs the
packages booktabs and graphicx.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pubmill.messages.wording import escape_controls
from pubmill.recipes.tables import Column, Row
from pubmill.report.rendering import (
    collapse,
    escape_tex,
    groups,
    marks,
    metric,
    number,
    printed,
    renderers,
    sentence,
)
from pubmill.report.table_views import TableView
from pubmill.storage.result_paths import PAGE_FORMATS, TABLE_FORMATS, table_stem
from pubmill.tables.cells import Cell, Table
from pubmill.tables.fact_table_models import FactTable
from pubmill.tables.table_frames import cell_frame, fact_frame

MOST_COLUMNS = 8
"""A table with more models has them as rows, if it has fewer datasets."""
WIDEST_HEAD = 12
"""Characters at which a column's head continues on the next line."""
FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
NONE = "---"


def latex_table(table: Table, *, spread: bool = False, published: bool = False) -> str:
    """Return a LaTeX table of our values, each row's best in bold; without empty columns, unless all are."""
    columns = [one for one in table.columns if _has_value(table, one)] or list(table.columns)
    return "\n".join(_LatexTable(table, columns, spread, published).lines()) + "\n"


def _has_value(table: Table, column: Column) -> bool:
    return any(table.cells[column.key][row.key].value is not None for row in table.shown_rows)


@dataclass(frozen=True)
class _LatexTable:
    table: Table
    columns: Sequence[Column]
    spread: bool
    published: bool

    @property
    def turned(self) -> bool:
        """Whether models are rows."""
        return len(self.columns) > max(len(self.table.shown_rows), MOST_COLUMNS)

    @cached_property
    def entries(self) -> list[tuple[Row | Column, bool]]:
        """(column, or row if `turned`; whether its published values), in the order of the printed columns."""
        across: Sequence[Row | Column] = self.table.shown_rows if self.turned else self.columns
        theirs = {key for row, column, cell in self.table.read() if cell.published for key in (row, column)}
        return [
            (one, is_published)
            for one in across
            for is_published in ((False, True) if self.published and one in theirs else (False,))
        ]

    @cached_property
    def notes(self) -> dict[str, str]:
        """TableNote on single cells -> its letter."""
        rows = (self.table.cells_of(row, self.columns) for row in self.table.shown_rows)
        return marks(_note(cell) for cells in rows for cell in cells)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        name = f"{self.table.paper}/{self.table.table}"
        environment = "table*" if len(self.entries) > MOST_COLUMNS // 2 else "table"
        yield f"% pubmill: table {name}, {self.table.scale} scale; needs booktabs and graphicx"
        yield rf"\begin{{{environment}}}"
        yield r"\centering"
        yield rf"\caption{{{self._caption()}}}"
        yield rf"\label{{tab:{name.replace('/', '-')}}}"
        yield r"\par\smallskip"
        yield FIT
        yield rf"\begin{{tabular}}{{@{{}}l{'r' * len(self.entries)}@{{}}}}"
        yield r"\toprule"
        yield self._head_line()
        for group in [self.columns] if self.turned else groups(self.table.shown_rows):
            yield r"\midrule"
            yield from map(self._line, group)
        yield r"\bottomrule"
        yield r"\end{tabular}}"
        yield from self._legend()
        yield rf"\end{{{environment}}}"

    def _caption(self) -> str:
        table = self.table
        parts = [table.heading, table.caption, f"{table.aggregate} over runs"]
        if self.spread:
            parts.append("after ±: standard deviation over runs")
        parts.append("bold: best of a dataset")
        if any(is_published for _, is_published in self.entries):
            parts.append(f"source of the published values: {table.citation or table.paper}")
        return _tex(" ".join(sentence(part) for part in parts if part))

    def _head_line(self) -> str:
        heads = [self._head(*entry) for entry in self.entries]
        return rf"{' & '.join(['Model' if self.turned else 'Dataset', *heads])} \\"

    def _head(self, one: Row | Column, is_published: bool) -> str:
        lines = [_tex(line) for line in textwrap.wrap(_label(one), WIDEST_HEAD, break_long_words=False)]
        lines += ["published"] if is_published else []
        text = r"\\".join(lines) + self._reasons(one)
        return rf"\shortstack[r]{{{text}}}" if len(lines) > 1 else text

    def _line(self, down: Row | Column) -> str:
        texts = [_tex(_label(down)) + self._reasons(down)]
        for across, is_published in self.entries:
            row, column = sorted((down, across), key=lambda one: isinstance(one, Column))
            texts.append(self._published(row, column) if is_published else self._ours(row, column))
        return rf"{' & '.join(texts)} \\"

    def _ours(self, row: Row | Column, column: Row | Column) -> str:
        cell = self.table.cells[column.key][row.key]
        text = NONE
        if cell.value is not None:
            text = _tex(number(cell.value))
            text = rf"\textbf{{{text}}}" if column.key in self._best[row.key] else text
        if self.spread and cell.spread is not None:
            text += rf" $\pm$ {_tex(number(cell.spread))}"
        note = self.notes.get(_note(cell) or "", "")
        return text + _superscript(note, self.table.marks(column.key, row.key))

    def _published(self, row: Row | Column, column: Row | Column) -> str:
        published = self.table.cells[column.key][row.key].published
        return _tex(printed(published.printed)) if published else NONE

    @cached_property
    def _best(self) -> dict[str, set[str]]:
        """Row -> the columns with its highest value."""
        keys = [column.key for column in self.columns]
        return {row.key: self.table.best_columns(row, keys) for row in self.table.shown_rows}

    def _reasons(self, one: Row | Column) -> str:
        """The numbers of the reasons of a whole row or column."""
        names = (one.key, "") if isinstance(one, Column) else ("", one.key)
        return _superscript(self.table.marks(*names))

    def _legend(self) -> Iterator[str]:
        """Yield the reasons below the table."""
        keys, rows = ({"", *(one.key for one in some)} for some in (self.columns, self.table.shown_rows))
        legend = {letter: note for note, letter in self.notes.items()}
        for place, reason in enumerate(self.table.reasons, 1):
            pairs = (one.partition("/") for one in reason.cells)
            if any(column in keys and row in rows for column, _, row in pairs):
                legend[str(place)] = reason.text
        if legend:
            yield r"\par\smallskip\begin{minipage}{\linewidth}\footnotesize\raggedright"
            for name, text in legend.items():
                yield rf"{_superscript(name)} {_tex(sentence(text))}\par"
            yield r"\end{minipage}"


def _label(one: Row | Column) -> str:
    return one.label if isinstance(one, Column) else f"{one.label}, {metric(one.metric)}"


def _note(cell: Cell) -> str | None:
    """Return why a cell has no value, or that runs of it collapsed."""
    return cell.missing if cell.value is None else collapse(cell) or None


def _superscript(*names: str) -> str:
    text = ", ".join(filter(None, names))
    return rf"\textsuperscript{{{text}}}" if text else ""


def _tex(text: str) -> str:
    """Escape text; what specs name in backticks is code."""
    parts = [escape_tex(part) for part in escape_controls(text).split("`")]
    if len(parts) % 2 == 0:
        return escape_tex(escape_controls(text))
    return "".join(rf"\texttt{{{part}}}" if number % 2 else part for number, part in enumerate(parts))


def links(table: Table) -> dict[str, str]:
    """Return the pages of other tables that a table's own page links to: table -> relative address."""
    others = (cell.other for *_, cell in table.read() if cell.other)
    return {other.table: f"{table_stem(other.table)}.html" for other in others if other.linked}


def fact_marks(table: FactTable) -> dict[str, str]:
    """Map every distinct reason for a missing or differing value to its mark, in reading order."""
    return marks(table.reasons)


def _table_values(table: Table) -> dict[str, object]:
    view = TableView(f"{table.paper}/{table.table}", table.table, table)
    return {"table": table, "reasons": view.marks, "links": links(table), "costs": view.costs, "view": view}


TABLE_RENDERERS = renderers("table", TABLE_FORMATS, _table_values, cell_frame) | {"tex": latex_table}
FACT_TABLE_RENDERERS = renderers(
    "fact_table", TABLE_FORMATS, lambda table: {"table": table, "marks": fact_marks(table)}, fact_frame
)
COMPARISON_RENDERERS = renderers("comparisons", PAGE_FORMATS, lambda of: {"comparisons": of})
"""Format -> function that renders it."""
