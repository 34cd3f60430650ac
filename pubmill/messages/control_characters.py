"""Escapes for characters that control a terminal or reverse the order of a line.

Errors, printed tables and written reports all use them.
"""

import re

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


def escape_controls(text: str) -> str:
    """Return the text with such characters replaced by `\\x1b`, `\\u202e` and the like."""
    return _ACTING.sub(lambda found: _escape_code(ord(found[0])), text)


def _escape_code(number: int) -> str:
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
