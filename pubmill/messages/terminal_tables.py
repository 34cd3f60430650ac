"""Tables for people: wrapped to the width of a terminal, and complete if the output is a file or a pipe."""

import re
import shutil
import sys
import textwrap
from collections.abc import Container, Iterable
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.containers import Lines
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from pubmill.messages.wording import escape_controls

PIPED_WIDTH = 160

PARTS = re.compile(r"[^-@/.:,=_+]+|[-@/.:,=_+]")
"""A part of a name, or a separator."""
GOOD, BAD, DIM = "green", "bold red", "dim"


class _Console(Console):
    """A console that escapes control characters in text, which could move the cursor or reverse a line. Only
    the console's own colour codes are printed."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_controls(segment.text))


class _Folded(Text):
    """Text whose words, if they are longer than a line, continue at a separator, not within a name."""

    def wrap(self, console: Console, width: int, **how: Any) -> Lines:
        words = re.split("([ \n])", self.plain)
        text = "".join(_pieces(word, width) for word in words)
        return Text(text, self.style, justify=self.justify).wrap(console, width, **how)


def _pieces(word: str, width: int) -> str:
    """Return a word in lines of at most `width` characters, as far as its separators allow."""
    lines = [""]
    for piece in PARTS.findall(word) if len(word) > width else [word]:
        if lines[-1] and len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


class _Table(Table):
    """A table whose cells are folded as `_Folded` text."""

    def add_row(self, *cells: Any, **how: Any) -> None:
        folded = (_Folded(str(cell), getattr(cell, "style", "")) for cell in cells)
        super().add_row(*folded, **how)


def terminal_width() -> int | None:
    """Return the width of the terminal, or that which COLUMNS gives it; None for a pipe or file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def wrapped(text: str, width: int, hanging: int = 4) -> str:
    """Return the text with lines longer than `width` continued at a word, `hanging` characters further in."""
    wrapper, lines = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False), list[str]()
    for line in text.split("\n"):
        wrapper.subsequent_indent = " " * (len(line) - len(line.lstrip()) + hanging)
        lines.append(wrapper.fill(line) if len(line) > width else line)
    return "\n".join(lines)


def print_text(text: str, hanging: int = 4) -> None:
    """Print text; on a terminal, long lines are wrapped as by `wrapped`."""
    print(wrapped(text, terminal_width() or sys.maxsize, hanging))


def print_markdown(text: str) -> None:
    """Print Markdown; a terminal gets its tables and paragraphs set to its width."""
    if terminal_width() is None:
        print(text)
        return
    for is_table, lines in groupby(text.splitlines(), lambda line: line.startswith("|")):
        if not is_table:
            print_text("\n".join(line.removeprefix("# ") for line in lines), hanging=0)
            continue
        heading, _, *rows = [line.strip("| ").replace("<br>", "\n").split(" | ") for line in lines]
        made = table(*heading)
        for row in rows:
            made.add_row(*row)
        console().print(made)


def console(piped: int = PIPED_WIDTH) -> Console:
    """Return a console for standard output; it uses colours and the terminal's width only on a terminal.
    `piped`: the width of a pipe or file."""
    return _Console(width=terminal_width() or piped, highlight=False, markup=False)


def table(*headings: str, numbers: Container[int] = ()) -> Table:
    """Return an empty table that never truncates text: long text continues on the next line, after a word or
    at a separator in a name. `numbers`: columns that are aligned to the right."""
    made = _Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        made.add_column(heading, overflow="fold", justify="right" if place in numbers else "left")
    return made


def coloured(text: str, good: bool | None) -> Text:
    """Return the text in the colour for good (True), bad (False) or neither (None)."""
    return Text(text, style={True: GOOD, False: BAD, None: DIM}[good])
