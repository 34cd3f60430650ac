"""The form of answers, and values in words."""

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
    """A table; every row has a cell for each heading."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Answer:
    """What is answered, on which `basis`, in sentences and, where there is much, in a table."""

    basis: Basis
    text: tuple[str, ...] = ()
    grid: Grid | None = None

    @property
    def told_basis(self) -> str:
        return BASES[self.basis]


@dataclass(frozen=True)
class Item:
    question: str
    answer: Answer


def grid(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Grid | None:
    """A table; None without rows."""
    found = tuple(tuple(row) for row in rows)
    return Grid(tuple(headings), found) if found else None


def told(value: Any) -> str:
    """A value of a recipe in words."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(told, value)) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{name_of(key)} {told(one)}" for key, one in value.items())
    return str(value)


def name_of(key: str) -> str:
    """The name of a setting, as text has it."""
    return key.replace("_", " ")
