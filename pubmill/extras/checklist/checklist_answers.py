"""Data models of checklist answers, and the formatting of values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Basis = Literal["measured", "specified", "measured and specified", "unknown", "not applicable"]
BASES: Mapping[str, str] = {
    "measured": "Measured",
    "specified": "From the specifications",
    "measured and specified": "Measured, and from the specifications",
    "unknown": "Not known to pubmill; for the authors to answer",
    "not applicable": "Does not apply",
}


@dataclass(frozen=True)
class Grid:
    """A table whose rows have one cell for each heading."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ChecklistAnswer:
    """An answer and its `basis`, in sentences and, for longer answers, in a table."""

    basis: Basis
    text: tuple[str, ...] = ()
    grid: Grid | None = None

    @property
    def basis_text(self) -> str:
        """The basis in words."""
        return BASES[self.basis]


@dataclass(frozen=True)
class Item:
    """A question with its answer."""

    question: str
    answer: ChecklistAnswer


def grid(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Grid | None:
    """Return a table, or None without rows."""
    cells = tuple(tuple(row) for row in rows)
    return Grid(tuple(headings), cells) if cells else None


def value_text(value: Any) -> str:
    """Return a recipe's value as text."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(value_text, value)) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{name_of(key)} {value_text(one)}" for key, one in value.items())
    return str(value)


def name_of(key: str) -> str:
    """Return the name of a key as text."""
    return key.replace("_", " ")
