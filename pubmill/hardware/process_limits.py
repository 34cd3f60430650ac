"""Limits for programs that read files made by others: memory, processor time, size of what they write.

The system enforces them, so a file made to harm ends its own job alone. They are far above what any known
file needs (benchmarks/README.md); a cluster's own, from the rule's `mem_mb` and `runtime`, may be lower.
"""

import errno
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from pubmill.errors import PubmillError

MEMORY = 32_000_000_000
"""Bytes of address space; libraries reserve several times what they use."""
SECONDS = 24 * 3600
"""Of processor time."""
GRACE = 60
"""Further seconds in which a program may say that its time is over, before it is killed."""
WRITTEN = 200_000_000_000
"""Bytes of one file that is written."""

_ADVICE = (
    "if the file that it reads is known to be sound, raise the limit in pubmill/hardware/process_limits.py"
)


def limited(main: Callable[[], None]) -> Callable[[], None]:
    """The program under the limits; a `PubmillError` says which of them it met."""

    def under_limits() -> None:
        with _limits():
            main()

    return under_limits


@contextmanager
def _limits() -> Iterator[None]:
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, WRITTEN),
    ):
        _lower(kind, most)
    signal.signal(signal.SIGXCPU, _out_of_time)
    try:
        yield
    except MemoryError:
        raise PubmillError(f"the program needs more than {MEMORY:,} bytes of memory; {_ADVICE}") from None
    except (OSError, PubmillError) as error:
        if _number(error) == errno.EFBIG and resource.getrlimit(resource.RLIMIT_FSIZE)[0] == WRITTEN:
            raise PubmillError(f"a file that is written has more than {WRITTEN:,} bytes; {_ADVICE}") from None
        raise


def _lower(kind: int, most: int) -> None:
    """Set a limit unless a lower one holds already."""
    soft, hard = resource.getrlimit(kind)
    lowest = min(bound for bound in (soft, hard, most) if bound != resource.RLIM_INFINITY)
    if kind == resource.RLIMIT_CPU:  # where the signal is not looked at, the system ends the program
        hard = lowest + GRACE if hard == resource.RLIM_INFINITY else min(hard, lowest + GRACE)
    with suppress(ValueError):  # a Mac has no limit of address space
        resource.setrlimit(kind, (lowest, hard))


def _number(error: BaseException) -> int | None:
    """The system's number of an error, or of the one that it was made of."""
    found = error if isinstance(error, OSError) else error.__cause__
    return found.errno if isinstance(found, OSError) else None


def _out_of_time(number: int, frame: FrameType | None) -> None:
    raise PubmillError(f"the program needs more than {SECONDS:,} s of processor time; {_ADVICE}")
