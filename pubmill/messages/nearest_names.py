"""Suggestions for an unknown name: the most similar known names."""

from collections.abc import Iterable
from difflib import SequenceMatcher

SHOWN = 5


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names, the most similar first."""

    def unlike(one: str) -> float:
        return -SequenceMatcher(None, name.casefold(), one.casefold()).ratio()

    return sorted(sorted(known), key=unlike)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return a message about an unknown name, with the nearest known ones."""
    names = nearest(name, known)
    more = f" ({len(names)} in all)" if len(names) > SHOWN else ""
    return f"there is no {what} {name!r}; the nearest: {', '.join(names[:SHOWN]) or 'none'}{more}"
