"""What pubmill says when it must stop, and how its programs say it."""

import sys
from collections.abc import Callable

from pubmill.control_characters import escape_controls


class PubmillError(Exception):
    """Something the person at the keyboard can mend.

    The message says what was wrong, where (file, line, PMID, document), what was expected and
    what to do; it is printed as it stands, without a traceback. Whatever it quotes, no control character
    of a terminal is in it.
    """

    def __init__(self, message: object) -> None:
        super().__init__(escape_controls(str(message)))


def run(main: Callable[[], None]) -> None:
    """Run a program; print a `PubmillError` as a message and leave with status 1."""
    try:
        main()
    except PubmillError as error:
        print(f"pubmill: error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
