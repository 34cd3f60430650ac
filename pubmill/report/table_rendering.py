r"""Renderers of result tables, fact tables and comparisons of models; all text in them is escaped.

A table in LaTeX is a float for `\input`, with caption and label, no wider than the text. It needs the
packages booktabs and graphicx.
"""

import textwrap
from collections.abc import Sequence

from pubmill.messages.wording import escape_controls
from pubmill.recipes.tables import Column, Row
from pubmill.report.rendering import collapse, escape_tex, groups, marks, metric, number, renderers, sentence
from pubmill.report.table_views import TableView
from pubmill.storage.result_paths import COMPARISON_FORMATS, TABLE_FORMATS, table_stem
from pubmill.tables.cells import Cell, Table
from pubmill.tables.table_frames import cell_frame, fact_frame

MOST_COLUMNS = 8
"""A table with more models has them as rows, if it has fewer datasets."""
WIDEST_HEAD = 12
"""Characters at which a column's head continues on the next line."""
FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
NONE = "---"


def latex_table(table: Table) -> str:
    """Return a LaTeX table of our values, each row's best in bold; without empty columns, unless all are."""
    rows = table.shown_rows
    has_value = {c.key: any(table.cells[c.key][r.key].value is not None for r in rows) for c in table.columns}
    columns = [one for one in table.columns if has_value[one.key]] or list(table.columns)
    keys = [column.key for column in columns]
    turned = len(columns) > max(len(rows), MOST_COLUMNS)
    across: Sequence[Row | Column] = rows if turned else columns
    notes = marks(_note(table.cells[one.key][row.key]) for row in rows for one in columns)
    best = {row.key: table.best_columns(row, keys) for row in rows}

    def reasons(one: Row | Column) -> str:
        """Return the numbers of the reasons of a whole row or column."""
        return _superscript(table.marks(one.key, "") if isinstance(one, Column) else table.marks("", one.key))

    def head(one: Row | Column) -> str:
        parts = [latex_text(part) for part in textwrap.wrap(_label(one), WIDEST_HEAD, break_long_words=False)]
        text = r"\\".join(parts) + reasons(one)
        return rf"\shortstack[r]{{{text}}}" if len(parts) > 1 else text

    def line(down: Row | Column) -> str:
        texts = [latex_text(_label(down)) + reasons(down)]
        for one in across:
            row, column = (one, down) if turned else (down, one)
            cell, text = table.cells[column.key][row.key], NONE
            if cell.value is not None:
                text = latex_text(number(cell.value))
                text = rf"\textbf{{{text}}}" if column.key in best[row.key] else text
            note = notes.get(_note(cell) or "", "")
            texts.append(text + _superscript(note, table.marks(column.key, row.key)))
        return rf"{' & '.join(texts)} \\"

    legend = {letter: note for note, letter in notes.items()}
    shown = {f"{c}/{r}" for c in ("", *keys) for r in ("", *(row.key for row in rows))}
    for place, reason in enumerate(table.reasons, 1):
        if shown.intersection(reason.cells):
            legend[str(place)] = reason.text
    name = f"{table.paper}/{table.table}"
    caption = (table.heading, table.caption, f"{table.aggregate} over runs", "bold: best of a dataset")
    environment = "table*" if len(across) > MOST_COLUMNS // 2 else "table"
    lines = [
        f"% pubmill: table {name}, {table.scale} scale; needs booktabs and graphicx",
        rf"\begin{{{environment}}}",
        r"\centering",
        rf"\caption{{{latex_text(' '.join(sentence(part) for part in caption if part))}}}",
        rf"\label{{tab:{name.replace('/', '-')}}}",
        r"\par\smallskip",
        FIT,
        rf"\begin{{tabular}}{{@{{}}l{'r' * len(across)}@{{}}}}",
        r"\toprule",
        rf"{' & '.join(['Model' if turned else 'Dataset', *map(head, across)])} \\",
    ]
    for group in [columns] if turned else groups(rows):
        lines += [r"\midrule", *map(line, group)]
    lines += [r"\bottomrule", r"\end{tabular}}"]
    if legend:
        lines.append(r"\par\smallskip\begin{minipage}{\linewidth}\footnotesize\raggedright")
        lines += [rf"{_superscript(mark)} {latex_text(sentence(text))}\par" for mark, text in legend.items()]
        lines.append(r"\end{minipage}")
    return "\n".join([*lines, rf"\end{{{environment}}}"]) + "\n"


def _label(one: Row | Column) -> str:
    return one.label if isinstance(one, Column) else f"{one.label}, {metric(one.metric)}"


def _note(cell: Cell) -> str | None:
    """Return why a cell has no value, or that runs of it collapsed."""
    return cell.missing if cell.value is None else collapse(cell) or None


def _superscript(*names: str) -> str:
    text = ", ".join(filter(None, names))
    return rf"\textsuperscript{{{text}}}" if text else ""


def latex_text(text: str) -> str:
    """Escape text; what specs name in backticks is code."""
    parts = [escape_tex(part) for part in escape_controls(text).split("`")]
    if len(parts) % 2 == 0:
        return escape_tex(escape_controls(text))
    return "".join(rf"\texttt{{{part}}}" if number % 2 else part for number, part in enumerate(parts))


def links(table: Table) -> dict[str, str]:
    """Return the pages of other tables that a table's own page links to: table -> relative address."""
    others = (cell.other for *_, cell in table.read() if cell.other)
    return {other.table: f"{table_stem(other.table)}.html" for other in others if other.linked}


def _table_values(table: Table) -> dict[str, object]:
    view = TableView(f"{table.paper}/{table.table}", table.table, table)
    return {"table": table, "reasons": view.marks, "links": links(table), "costs": view.costs, "view": view}


TABLE_RENDERERS = renderers("table", TABLE_FORMATS, _table_values, cell_frame) | {"tex": latex_table}
FACT_TABLE_RENDERERS = renderers("fact_table", TABLE_FORMATS, lambda table: {"table": table}, fact_frame)
COMPARISON_RENDERERS = renderers("comparisons", COMPARISON_FORMATS, lambda of: {"comparisons": of})
"""Format -> function that renders it."""
