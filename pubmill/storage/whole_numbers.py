"""Whole numbers that a file writes."""

MOST_DIGITS = 18
"""As many as 64 bits hold, which is what tables of results and documents have."""


def whole_number(text: str) -> int | None:
    """The number that ASCII digits write, at most `MOST_DIGITS` of them; None for any other text."""
    return int(text) if len(text) <= MOST_DIGITS and text.isascii() and text.isdigit() else None
