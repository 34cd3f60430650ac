"""JSON objects without repeated keys, of which Python's reader would silently keep the last value."""

from typing import Any


class RepeatedKeyError(ValueError):
    """A `key` that occurs twice in one object."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r:.100} occurs twice in one object")
        self.key = key


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, for `object_pairs_hook` of `json.loads`; raise a `RepeatedKeyError`."""
    found: dict[str, Any] = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RepeatedKeyError(key)
            seen.add(key)
    return found
