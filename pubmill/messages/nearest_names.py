"""Names that are known, by how much they are like a name that is not."""

from collections.abc import Iterable
from difflib import SequenceMatcher

SHOWN = 5


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known names, the most similar first."""

    def unlike(one: str) -> float:
        return -SequenceMatcher(None, name.casefold(), one.casefold()).ratio()

    return sorted(sorted(known), key=unlike)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that leads nowhere: the nearest of those that do."""
    names = nearest(name, known)
    more = f" ({len(names)} in all)" if len(names) > SHOWN else ""
    return f"there is no {what} {name!r}; the nearest: {', '.join(names[:SHOWN]) or 'none'}{more}"
