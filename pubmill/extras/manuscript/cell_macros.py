r"""LaTeX macros with the numbers of a study's tables (`cells.tex`), and checks of their use in a manuscript.

The macros need no package, only e-TeX, which every LaTeX has. `\cell{TABLE}{ROW}{COLUMN}` and its companions
are expandable, so they also work in captions, headings and columns of siunitx. An unknown key causes a TeX
error that names the key.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.latex_source import ManuscriptFault, Source, arguments
from pubmill.extras.manuscript.printed_numbers import RIGHT, ROUNDING, PrintedNumber, numbers
from pubmill.extras.manuscript.study_tables import CellKey, Tables, all_cells, cell_of
from pubmill.report.rendering import escape_tex, number, printed, signed
from pubmill.tables.cells import Cell, PublishedValue

MACROS_FILE = "cells.tex"
NONE = r"\cellnone{}"
"""The macro that stands in the place of a part that a cell does not have."""
FIRST_LINE = "% pubmill cells: study {study}, scale {scale}."
WRITTEN = re.compile(r"% pubmill cells: study (\S+), scale (\S+)\.")

_HEAD = r"""
% Written by pubmill tex; edits are lost. In a manuscript:
%   \input{cells}
%   \cell{TABLE}{ROW}{COLUMN}   the value; \cellspread, \cellpublished, \celldiff, \cellverdict: other parts;
%   \cellexact                  the value with six decimals;
%   \celllink                   the value, linked to its place in the table's page if hyperref is loaded and
%   \def\cellbase{https://HOST/FOLDER/}   names the published results folder of the scale.
% A part that a cell does not have is shown as \cellnone.
\ifx\pubmillget\undefined\ifx\cell\undefined\else
  \errmessage{pubmill: another package defines \string\cell; input cells.tex before it, or rename that macro}%
\fi\fi
\ifx\cellbase\undefined\def\cellbase{}\fi
\ifx\cellnone\undefined\def\cellnone{---}\fi
\ifx\cellminus\undefined\protected\def\cellminus{\ifmmode-\else$-$\fi}\fi
\edef\pubmillhash{\string#}
\def\pubmillkey#1#2#3#4{pubmill/\detokenize{#1}/\detokenize{#2}/\detokenize{#3}/#4}
\def\pubmillput#1#2#3#4#5{\expandafter\def\csname\pubmillkey{#2}{#3}{#4}{#1}\endcsname{#5}}
\def\pubmillget#1#2#3#4{\ifcsname\pubmillkey{#2}{#3}{#4}{#1}\endcsname
  \csname\pubmillkey{#2}{#3}{#4}{#1}\expandafter\endcsname\else\pubmillunknown{#2}{#3}{#4}\fi}
\protected\def\pubmillunknown#1#2#3{\errhelp{The keys are in the lines of cells.tex that begin with
  \string\pubmillcell; after new runs, write that file again with pubmill tex.}%
  \errmessage{pubmill: no cell \detokenize{{#1}{#2}{#3}}; cells.tex lists the keys}??}"""

_TAIL = r"""\def\celllink#1#2#3{\pubmilllink{#1}{#2}{#3}}
\def\pubmillnumber#1/#2\relax{#2}
\protected\def\pubmilllink#1#2#3{\if\relax\detokenize\expandafter{\cellbase}\relax\cell{#1}{#2}{#3}\else
  \ifx\href\undefined\cell{#1}{#2}{#3}\else
  \href{\cellbase tables/#1.html\pubmillhash\pubmillnumber#1\relax-#3-#2}{\cell{#1}{#2}{#3}}\fi\fi}"""

_CELL = re.compile(r"\\pubmillcell((?:\{(?:[^{}]|\{\})*\}){9})")
_ARGUMENT = re.compile(r"\{((?:[^{}]|\{\})*)\}")


class CellPart(NamedTuple):
    """A part of a cell. `name`: its name in messages; `field`: its field of `Cell`; `show`: formats it."""

    name: str
    field: str
    show: Callable[[Any], str]

    def of(self, cell: Cell) -> float | None:
        """Return the number of the part, if it has one."""
        part = getattr(cell, self.field)
        value: float | None = part.value if isinstance(part, PublishedValue) else part
        return None if self.field == "verdict" else value

    def text(self, cell: Cell) -> str:
        """Return the part as LaTeX, with a minus sign that also works in formulas; else `NONE`."""
        part = getattr(cell, self.field)
        if part is None:
            return NONE
        return escape_tex(self.show(part)).replace(r"\ensuremath{-}", r"\cellminus{}")


PARTS = {
    "cell": CellPart("value", "value", number),
    "cellspread": CellPart("spread", "spread", number),
    "cellpublished": CellPart("published value", "published", lambda value: printed(value.printed)),
    "celldiff": CellPart("difference", "difference", signed),
    "cellverdict": CellPart("verdict", "verdict", lambda verdict: verdict.verdict),
    "cellexact": CellPart("value", "value", "{:.6f}".format),
}
"""Macro -> the part that it gives; `cellexact` is the value with six decimals, for other packages."""
_USE = re.compile(rf"\\({'|'.join(sorted([*PARTS, 'celllink'], key=len, reverse=True))})(?![a-zA-Z])")


def macros_text(study: str, scale: str, tables: Tables) -> str:
    """Return the file of macros of a study's tables."""
    puts = "%\n".join(
        rf"  \pubmillput{{{name}}}{{#1}}{{#2}}{{#3}}{{#{number}}}" for number, name in enumerate(PARTS, 4)
    )
    lines = [
        FIRST_LINE.format(study=study, scale=scale) + _HEAD,
        *(rf"\def\{name}#1#2#3{{\pubmillget{{{name}}}{{#1}}{{#2}}{{#3}}}}" for name in PARTS),
        _TAIL,
        rf"\def\pubmillcell#1#2#3#4#5#6#7#8#9{{%{chr(10)}{puts}}}",
        "% table, row, column, " + ", ".join(part.name for part in PARTS.values()),
    ]
    for key, cell in all_cells(tables):
        texts = "}{".join(part.text(cell) for part in PARTS.values())
        lines.append(rf"\pubmillcell{key}{{{texts}}}%")
    return "\n".join(lines) + "\n"


def read_macros(text: str) -> Iterator[tuple[CellKey, dict[str, str]]]:
    """Yield the cells of a file of macros with the text of each macro, as `macros_text` writes them."""
    for match in _CELL.finditer(text):
        table, row, column, *texts = _ARGUMENT.findall(match[1])
        yield CellKey(table, row, column), dict(zip(PARTS, texts, strict=True))


def check_study(text: str, file: str, study: str, scale: str) -> None:
    """Raise a `PubmillError` if a file of macros belongs to another study."""
    match = WRITTEN.match(text)
    if match and match.groups() != (study, scale):
        raise PubmillError(
            f"{file}: it has the numbers of study {match[1]}, scale {match[2]}, not of {study}, scale "
            f"{scale}; check the manuscript with --study {match[1]}, or write the file again by pubmill tex"
        )


def uses(code: str) -> Iterator[tuple[int, str, CellKey]]:
    """Yield offset, macro and key of each cell macro in LaTeX code; keys that contain macros are skipped."""
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
    """Yield a finding for each used cell that is absent from the file of macros, or outdated there."""
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
    r"""Yield findings on numbers before a comment that names their cells (`84.52 % \cell{..}{..}{..}`)."""
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
        for one, (_, macro, key) in zip(printed[-len(named) :], named, strict=True):
            part = macro if macro in PARTS else "cell"
            try:
                exact = PARTS[part].of(cell_of(tables, key))
            except PubmillError as error:
                yield source.fault(start, "unknown", rf"\{macro}{key}", str(error), "Correct the key")
                continue
            if exact is None:
                expected = f"{key} has no such number"
                yield source.fault(one.start, "empty", one.text, expected, "Remove it")
            else:
                yield from number_findings(source, one, exact, key, part)


def annotated_lines(source: Source) -> set[int]:
    """Return the offsets of the lines whose numbers are named by a comment of macros."""
    return {source.line_start(one.start) for one in source.comments if any(uses(one.text))}


def number_findings(
    source: Source, number: PrintedNumber, exact: float, key: CellKey, part: str
) -> Iterator[ManuscriptFault]:
    """Yield a finding if a number is not the exact value at its precision."""
    judged = number.against(exact)
    if judged == RIGHT:
        return
    right = number.rounded(exact)
    yield source.fault(
        number.start,
        "rounding" if judged == ROUNDING else "stale",
        f"{number.text} stands here",
        f"the {PARTS[part].name} of {key} is {right} (exactly {exact:.6f})",
        rf"Write {right} or \{part}{key}",
    )
