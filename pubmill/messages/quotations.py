"""Quotation of source files in messages without revealing licensed text."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WITHHELD: ContextVar[str] = ContextVar("withheld", default="")
_LICENSED, _OWN = "licensed", "own"
_IDENTIFIER = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9_.:-]{1,40}")
_SHOWN = 80
"""Most characters of a source file that a message quotes in one place."""


@contextmanager
def withholding(text: bool, own: bool = False) -> Iterator[None]:
    """While the block runs, `quote` and `show` reveal no text, if `text` is true. `own`: the data are the
    user's, who may name examples and documents in any way."""
    token = _WITHHELD.set("" if not text else _OWN if own else _LICENSED)
    try:
        yield
    finally:
        _WITHHELD.reset(token)


def withheld() -> bool:
    """Return whether the text of the dataset must be withheld, because it isn't public."""
    return bool(_WITHHELD.get())


def needs_identifiers() -> bool:
    """Return whether ids of examples must be identifiers, because the dataset is licensed by others."""
    return _WITHHELD.get() == _LICENSED


def quote(text: str) -> str:
    """Return an excerpt for a message: at most 80 characters, or only the length for a licensed dataset."""
    return _withheld_text(text) if withheld() else repr(_shorten(text))


def show(text: str) -> str:
    """Return an identifier, type or key of a source file for a message, cut to 80 characters. A damaged file
    can contain any text in its place, so for a licensed dataset only clear identifiers (`is_identifier`) are
    shown, and for other text its length."""
    return _withheld_text(text) if withheld() and not is_identifier(text) else _shorten(text)


def is_identifier(text: str) -> bool:
    """Return whether the text cannot be prose: at most 40 ASCII letters, digits and `_.:-`, with a digit."""
    return _IDENTIFIER.fullmatch(text) is not None


def _withheld_text(text: str) -> str:
    why = "the dataset is not public" if _WITHHELD.get() == _OWN else "the dataset's licence forbids it"
    return f"<{len(text)} characters, not shown: {why}>"


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
