"""Tables for people: wrapped to the width of a terminal, and complete if the output is a file or a pipe."""

import sys
from collections.abc import Iterable

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from pubmill.messages.wording import escape_controls

PIPED_WIDTH = 160

GOOD, BAD, DIM = "green", "bold red", "dim"


class _Console(Console):
    """A console that escapes control characters in text, which could move the cursor or reverse a line.

    Only the console's own colour codes are printed.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_controls(segment.text))


def console(piped: int = PIPED_WIDTH) -> Console:
    """Return a console for standard output; it uses colours and the terminal's width only on a terminal.

    `piped`: the width of a pipe or file.
    """
    return _Console(width=None if sys.stdout.isatty() else piped, highlight=False, markup=False)


def table(*headings: str) -> Table:
    """Return an empty table that never truncates text: long text continues on the next line."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made


def coloured(text: str, good: bool | None) -> Text:
    """Return the text in the colour for good (True), bad (False) or neither (None)."""
    return Text(text, style={True: GOOD, False: BAD, None: DIM}[good])
