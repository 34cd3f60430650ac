"""Attacks with terminal control and bidirectional characters, wherever text is shown."""

import io
from pathlib import Path

from rich.text import Text

from pubmill.errors import PubmillError
from pubmill.messages.terminal_tables import console, table
from pubmill.messages.wording import escape_controls
from pubmill.report.rendering import environment, escape_markdown, escape_tex
from tests.attack import attack
from tests.world.dice import Dice

PIECES = (
    "a", "naïve", "中", " ", "\t", "\n", "<b>", "&amp;", "|", "\\", "{{ x }}", "[bold]", "\x1b[31m",
    "\x1b]0;x\x07", "\x9b2J", "\r", "\b",
    "\x7f", "\u202e", "\u2066", "\u2069", "\u200f", "\u061c", "\u2028", "\ufeff", "\ufdd0", "\ufffe",
    "\U000e0041", "\ud800", "\x00",
)  # fmt: skip
TEMPLATE = "{{ text }}{% for one in [text] %}{{ one | e }}{% endfor %}{{ [text, text] | join }}"


def _text(dice: Dice) -> str:
    def piece() -> str:
        return chr(dice.below(0x110000)) if dice.chance(0.3) else dice.pick(PIECES)

    return "".join(piece() for _ in range(dice.between(1, 30)))


def _shown(text: str) -> dict[str, str]:
    """Return where the text is shown -> its shown form."""
    to, rows = console(), table("name")
    to.file = io.StringIO()
    rows.add_row(text)
    to.print(rows)
    to.print(text)
    to.print(Text(text, style="red"))
    forms = {"HTML": None, "Markdown": escape_markdown, "LaTeX": escape_tex}
    pages = {name: environment(how).from_string(TEMPLATE).render(text=text) for name, how in forms.items()}
    return {"an error": str(PubmillError(f"found {text}")), "a list": to.file.getvalue(), **pages}


@attack("messages", cases=3_000, quick=60)
def _case(dice: Dice, folder: Path) -> str:
    """ANSI sequences, bidirectional controls, noncharacters, half surrogate pairs in quoted text: errors,
    lists, HTML, Markdown and LaTeX show them as codes."""
    text = _text(dice)
    for place, shown in _shown(text).items():
        if escape_controls(shown) != shown:
            return f"{place} holds a control character of {text!r}"
        shown.encode()
    return ""
