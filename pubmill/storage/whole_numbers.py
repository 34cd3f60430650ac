"""Whole numbers in files."""

MOST_DIGITS = 18
"""As many digits as 64 bits hold, the width of the columns of results and documents."""


def whole_number(text: str) -> int | None:
    """Parse at most `MOST_DIGITS` ASCII digits; return None for any other text."""
    return int(text) if len(text) <= MOST_DIGITS and text.isascii() and text.isdigit() else None
