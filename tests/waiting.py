"""How long tests wait: longer on a busy machine, so that it is slow and not red."""

import os
import time
from collections.abc import Callable


def patience(seconds: float) -> float:
    """Seconds to wait for what takes at most `seconds` on an idle machine: more, as far as it is busy now."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return seconds * max(1.0, os.getloadavg()[0] / cores)


def wait_until(holds: Callable[[], bool], seconds: float, what: str, pause: float = 0.1) -> None:
    """Return as soon as `holds()`; fail, naming `what` was waited for, when patience has run out."""
    begun = time.monotonic()
    while not holds():
        waited = time.monotonic() - begun
        if waited > patience(seconds):
            raise AssertionError(f"waited {waited:.0f} s for {what} in vain")
        time.sleep(pause)
