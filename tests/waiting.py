"""Waiting in tests: longer on a busy machine, so that a test is slow there instead of failing."""

import os
import time
from collections.abc import Callable

from pubmill.hardware.process_limits import cores


def patience(seconds: float) -> float:
    """Return how long to wait for an event that takes at most `seconds` on an idle machine.

    The result grows with the current load of the machine.
    """
    return seconds * max(1.0, os.getloadavg()[0] / cores())


def wait_until(holds: Callable[[], bool], seconds: float, what: str, pause: float = 0.1) -> None:
    """Return as soon as `holds()`; after the waiting time, fail with a message that names `what`."""
    begun = time.monotonic()
    while not holds():
        waited = time.monotonic() - begun
        if waited > patience(seconds):
            raise AssertionError(f"waited {waited:.0f} s for {what} in vain")
        time.sleep(pause)
