"""Paragraphs of plain text."""

import re

from pubmill.corpus.shards import single_spaced

_BLANK_LINES = re.compile(r"(?>\r\n?|\n)[^\S\r\n]*(?>\r\n?|\n)\s*")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, which blank lines separate; other line breaks become spaces.

    NUL characters, which some exports leave, become spaces too. Empty paragraphs are left out.
    """
    found = (single_spaced(part) for part in _BLANK_LINES.split(text.replace("\0", " ")))
    return [part for part in found if part.strip()]
