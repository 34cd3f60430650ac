"""Errors for the user, and how programs print them."""

import errno
import signal
import sys
from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from pubmill.messages.wording import escape_controls

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

UNUSABLE_FILE = (
    errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT,
    errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG,
)  # fmt: skip
"""Errors of the system that the user can correct: no permission, no space, or a path of the wrong kind."""


WITHOUT_TORCH = (
    "this needs torch, which only training and models need and which is not installed; install it: "
    "pip install 'DIST.whl[train]', where DIST.whl is pubmill's wheel"
)
"""What an installation without torch says of models."""


class PubmillError(Exception):
    """An error that the user can correct.

    The message states what is wrong, where (file, line, PMID, document), what was expected and what to do. It
    is printed without a traceback; control characters in quoted text are replaced.
    """

    def __init__(self, message: object) -> None:
        super().__init__(escape_controls(str(message)))


class StopRequestedError(Exception):
    """A signal asked the program to stop, and its work up to now is saved or dropped."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__(f"asked to stop by signal {number}")
        self.number = number


def exit_with_message(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Wrap a function so that a `PubmillError`, a file that cannot be used, or torch that is not installed
    ends the program with a message and status 1.

    Snakemake wraps every other exception into a traceback of its own.
    """

    @wraps(function)
    def ending(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        try:
            return function(*arguments, **keywords)
        except PubmillError as error:
            raise SystemExit(f"pubmill: error: {error}") from None
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise SystemExit(f"pubmill: error: {WITHOUT_TORCH}") from None
        except OSError as error:
            if error.errno not in UNUSABLE_FILE or error.filename is None:
                raise
            path = escape_controls(str(error.filename))
            fault = "exists, but is not a folder" if error.errno == errno.EEXIST else error.strerror
            raise SystemExit(
                f"pubmill: error: {path}: {fault}. Correct this, or name another file or folder"
            ) from None

    ending.__signature__ = signature(function)  # type: ignore[attr-defined]  # Snakemake asks for each job
    return ending


class ExitWithMessage:
    """Wrap an object so that its methods, and those of its parts, are wrapped by `exit_with_message`."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        if callable(found):
            found = exit_with_message(found)
        elif hasattr(found, "__dict__"):  # text and numbers have none
            found = ExitWithMessage(found)
        self.__dict__[name] = found  # rules look it up again for each job
        return found


def hide_interrupt_traceback() -> None:
    """Print a line in place of a traceback if Ctrl-C ends the program."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print("pubmill: interrupted", file=sys.stderr)
        else:
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = hook


def run(main: Callable[[], None]) -> None:
    """Run a program; print a `PubmillError` as a message and exit with status 1. If a signal asked it to
    stop, exit with the status that shells expect, 128 plus the signal's number. A job of a run is refused if
    its sources have changed since the run began."""
    from pubmill.messages.run_sources import watch  # which raises the errors of this module

    def watched() -> None:
        watch()
        main()

    hide_interrupt_traceback()
    try:
        exit_with_message(watched)()
    except StopRequestedError as stop:
        raise SystemExit(128 + stop.number) from None
