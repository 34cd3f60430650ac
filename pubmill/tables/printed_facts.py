"""Read facts as papers print them, and decide whether our values equal them."""

import re
from decimal import Decimal

from pubmill.recipes.fact_tables import FactKind, FactValue

_SIZES = {"k": 10**3, "m": 10**6, "b": 10**9, "gb": 10**9, "million": 10**6, "billion": 10**9}
_WHOLE = r"\d+|\d+(\.\d+)? ?([kKMB]|GB|million|billion)"
PATTERNS: dict[str, str] = {
    "text": r".+",
    "boolean": r"[01]",
    "ratio": r"\d+(\.\d+)?x?",
    "minutes": r"\d+:[0-5]\d",
    "learning_rate": r"\d+(\.\d+)?(e-\d+)?",
    "count": _WHOLE,
    "words": _WHOLE,
    "bytes": _WHOLE,
    "epochs": _WHOLE,
    "batch_size": _WHOLE,
}
"""Kind -> pattern of its published values."""


def is_of_kind(printed: str, kind: str) -> bool:
    """Return whether a published value has the form of its kind."""
    return kind in PATTERNS and re.fullmatch(PATTERNS[kind], printed) is not None


def read_number(printed: str, kind: str) -> tuple[Decimal, Decimal]:
    """Return a printed number and the unit of its last digit: `4.5 billion` is (4.5e9, 1e8), `03:01` (181,
    1)."""
    if kind == "minutes":
        minutes, seconds = printed.split(":")
        return Decimal(int(minutes) * 60 + int(seconds)), Decimal(1)
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?(?:e(-\d+))? ?([a-zA-Z]*)", printed)
    assert match, "of its kind"
    size = Decimal(_SIZES.get(match[4].lower(), 1)).scaleb(int(match[3] or 0))
    decimals = match[2] or ""
    last = size.scaleb(-len(decimals))
    return Decimal(match[1] + decimals) * last, last


def is_equal(value: FactValue, printed: str, kind: FactKind) -> bool:
    """Return whether our value equals the printed one: text ignoring case, numbers to within half a unit of
    the last printed digit (62,500 is not `64K`, 0.512 is not `0.50x`)."""
    if isinstance(value, bool):
        return value == (printed == "1")
    if isinstance(value, str):
        return value.casefold() == printed.casefold()
    number, last = read_number(printed, kind)
    return abs(Decimal(repr(value)) - number) <= last / 2
