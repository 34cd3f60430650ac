"""Processes of the PubMed speedrun, several at once; they are stopped, and waited for, when it ends early."""

import signal
from collections.abc import Callable, Hashable
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, Self

from pubmill.errors import PubmillError, StopRequestedError, run


class Processes:
    """Forks of this process, each under a key, which a context stops when it ends.

    What they need should be imported before, once for all. They save themselves when they are asked to stop.
    """

    def __init__(self) -> None:
        self.running: dict[Any, BaseProcess] = {}

    def __enter__(self) -> Self:
        def stop(number: int, frame: FrameType | None) -> None:
            raise StopRequestedError(number)

        signal.signal(signal.SIGTERM, stop)
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process.join()

    def begin(self, key: Hashable, function: Callable[[], None]) -> None:
        """Call a function in a process."""
        self.running[key] = get_context("fork").Process(target=run, args=(function,))
        self.running[key].start()

    def next_to_end(self) -> Any:
        """Wait for a process to end, and return its key; a `PubmillError` if it failed."""
        ended = wait([process.sentinel for process in self.running.values()])[0]
        key = next(key for key, process in self.running.items() if process.sentinel == ended)
        process = self.running.pop(key)
        process.join()
        if process.exitcode:
            raise PubmillError(f"{key} ended with {process.exitcode}; its messages stand above")
        return key
