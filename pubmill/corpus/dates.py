"""Parsing of PubMed's dates, which come in parts or as free text."""

import re
from functools import lru_cache

_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


@lru_cache(maxsize=1 << 14)
def day(*numbers: str | None) -> str:
    """Return year, month and day as YYYY-MM-DD; a few real citations have only year and month."""
    parts: list[str] = []
    for text, digits in zip(numbers, (4, 2, 2), strict=True):
        number = (text or "").strip()
        if not number.isdecimal():
            break
        parts.append(number.zfill(digits))
    return "-".join(parts)


@lru_cache(maxsize=1 << 14)
def year(text: str) -> str:
    """Return the first year in a text such as `1998 Dec-1999 Jan`; "" if there is none."""
    found = _YEAR.search(text)
    return found[0] if found else ""
