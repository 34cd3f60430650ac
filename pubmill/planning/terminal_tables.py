"""Tables for people: wrapped to the width of a terminal, and complete if the output is a file or a pipe."""

import shutil
import sys
import textwrap
from collections.abc import Container, Iterable
from itertools import groupby

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from pubmill.messages.wording import escape_controls

PIPED_WIDTH = 160

GOOD, BAD, DIM = "green", "bold red", "dim"


class _Console(Console):
    """A console that escapes control characters in text, which could move the cursor or reverse a line. Only
    the console's own colour codes are printed."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_controls(segment.text))


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
    """Return an empty table that never truncates text: long text continues on the next line. `numbers`:
    columns that are aligned to the right."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        made.add_column(heading, overflow="fold", justify="right" if place in numbers else "left")
    return made


def coloured(text: str, good: bool | None) -> Text:
    """Return the text in the colour for good (True), bad (False) or neither (None)."""
    return Text(text, style={True: GOOD, False: BAD, None: DIM}[good])
