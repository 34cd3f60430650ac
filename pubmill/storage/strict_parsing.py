"""Strict parsing: JSON objects without repeated keys, and whole numbers that fit their columns."""

from typing import Any

MOST_DIGITS = 18
"""As many digits as 64 bits hold, the width of the columns of results and documents."""


class RepeatedKeyError(ValueError):
    """A `key` that occurs twice in one object."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r:.100} occurs twice in one object")
        self.key = key


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, for `object_pairs_hook` of `json.loads`; raise a `RepeatedKeyError`."""
    parsed: dict[str, Any] = dict(pairs)
    if len(parsed) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RepeatedKeyError(key)
            seen.add(key)
    return parsed


def whole_number(text: str) -> int | None:
    """Parse at most `MOST_DIGITS` ASCII digits; return None for any other text."""
    return int(text) if len(text) <= MOST_DIGITS and text.isascii() and text.isdigit() else None
