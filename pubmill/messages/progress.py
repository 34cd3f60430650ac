"""Progress messages of programs."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

REPORT_SECONDS = 10
SLOWER = "slower than planned: "
"""Beginning of a message on methods that do not work here."""

Item = TypeVar("Item")


def report_progress(text: str) -> None:
    """Print a message on stderr; ignore a closed pipe."""
    with suppress(OSError):
        print(f"pubmill: {text}", file=sys.stderr, flush=True)


def report_slower(text: str) -> None:
    """Print a message that a GPU computes by slower methods than planned; the end of a run repeats it."""
    report_progress(f"{SLOWER}{text}")


def with_counts(items: Iterable[Item], what: str, of: int | None = None) -> Iterator[Item]:
    """Yield the items; report every few seconds how many there were so far, `of` all if that is known."""
    reported = time.monotonic()
    for count, item in enumerate(items, 1):
        yield item
        if time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            report_progress(f"{count:,}{f' of {of:,}' if of else ''} {what}")
