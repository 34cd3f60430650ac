"""Wording of messages: numbers with nouns, repeated and similar names, columns, control characters."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

SHOWN = 5
"""Number of similar names that a message lists."""
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    "\u2028\u2029\ufeff\ufff9-\ufffb"  # line ends of Unicode, byte order mark, annotations
    "\U000e0000-\U000e007f"  # tags, which no font shows
    "\ud800-\udfff"  # halves of surrogate pairs, which no encoding has
    "\ufdd0-\ufdef"  # noncharacters, and so are the last two of each plane
    + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
"""Characters that control a terminal or reverse the order of a line."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun: `1 dataset`, `2 datasets`; `plural`: if it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names, the most similar first."""
    wanted = name.casefold()
    return sorted(sorted(known), key=lambda one: -SequenceMatcher(None, wanted, one.casefold()).ratio())


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return a message about an unknown name, with the nearest known ones."""
    names = nearest(name, known)
    more = f" ({len(names)} in all)" if len(names) > SHOWN else ""
    return f"there is no {what} {name!r}; the nearest: {', '.join(names[:SHOWN]) or 'none'}{more}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text as lines, the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return ["  ".join(line).rstrip() for line in lines]


def escape_controls(text: str) -> str:
    """Return the text with characters that act on a terminal replaced by `\\x1b`, `\\u202e` and the like."""
    return _ACTING.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
