"""What pubmill says when it must stop, and how its programs say it."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pubmill.messages.control_characters import escape_controls

Given = ParamSpec("Given")
Made = TypeVar("Made")


class PubmillError(Exception):
    """Something the person at the keyboard can mend.

    The message says what was wrong, where (file, line, PMID, document), what was expected and
    what to do; it is printed as it stands, without a traceback. Whatever it quotes, no control character
    of a terminal is in it.
    """

    def __init__(self, message: object) -> None:
        super().__init__(escape_controls(str(message)))


def plainly(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """The function, ending the program with the message of a `PubmillError` and status 1.

    Snakemake wraps every other exception into a traceback of its own.
    """

    @wraps(function)
    def ending(*arguments: Given.args, **named: Given.kwargs) -> Made:
        try:
            return function(*arguments, **named)
        except PubmillError as error:
            raise SystemExit(f"pubmill: error: {error}") from None

    return ending


class Plain:
    """An object whose methods, and those of its parts, end the program as `plainly` does."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        if callable(found):
            return plainly(found)
        return Plain(found) if hasattr(found, "__dict__") else found  # text and numbers have none


def run(main: Callable[[], None]) -> None:
    """Run a program; print a `PubmillError` as a message and leave with status 1."""
    plainly(main)()
