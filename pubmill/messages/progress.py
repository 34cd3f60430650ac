"""Progress messages of programs."""

import sys
from contextlib import suppress


def report_progress(text: str) -> None:
    """Print a message on stderr; ignore a closed pipe."""
    with suppress(OSError):
        print(f"pubmill: {text}", file=sys.stderr, flush=True)
