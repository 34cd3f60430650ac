"""Paragraphs of plain text."""

import re

from pubmill.corpus.shards import single_spaced

_BLANK_LINES = re.compile(r"(?>\r\n?|\n)[^\S\r\n]*(?>\r\n?|\n)\s*")


def paragraphs(text: str) -> list[str]:
    """What blank lines part, each on one line: other line breaks are where a page ended, and become blanks.

    NUL characters, which some exports leave, are blanks too. None is empty.
    """
    found = (single_spaced(part) for part in _BLANK_LINES.split(text.replace("\0", " ")))
    return [part for part in found if part.strip()]
