"""Tables for people: wrapped on a terminal, and still whole where the output is a file or a pipe."""

import sys
from collections.abc import Iterable

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from pubmill.messages.control_characters import escape_controls

PIPED_WIDTH = 160

GOOD, BAD, DIM = "green", "bold red", "dim"


class _Console(Console):
    """A console on which no text moves the cursor or turns the order of a line; colours are its own."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_controls(segment.text))


def console() -> Console:
    """Standard output, with colours and the terminal's width only where it is a terminal."""
    return _Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False, markup=False)


def table(*headings: str) -> Table:
    """An empty table in which nothing is ever cut off: long text goes on in the next line."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made


def coloured(text: str, good: bool | None) -> Text:
    """Text that says whether it is good news (True), bad (False), or neither (None)."""
    return Text(text, style={True: GOOD, False: BAD, None: DIM}[good])
