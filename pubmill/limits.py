"""Limits for programs that read files made by others: memory, processor time, and the size of what they write.

The system enforces them, so a file made to harm ends its own job alone. They are far above what any known file
needs (benchmarks/README.md); a cluster's own limits, from the rule's `mem_mb` and `runtime`, may be lower.
"""

import errno
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from pubmill.errors import PubmillError

MEMORY = 32_000_000_000
"""Bytes of address space; libraries reserve several times what they use."""
SECONDS = 24 * 3600
"""Of processor time."""
WRITTEN = 200_000_000_000
"""Bytes of one file that is written."""

_ADVICE = "if the file that it reads is known to be sound, raise the limit in pubmill/limits.py"


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
        if _number(error) == errno.EFBIG:
            raise PubmillError(f"a file that is written has more than {WRITTEN:,} bytes; {_ADVICE}") from None
        raise


def _lower(kind: int, most: int) -> None:
    """Set a limit unless a lower one holds already."""
    soft, hard = resource.getrlimit(kind)
    bounds = [bound for bound in (soft, hard, most) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(kind, (min(bounds), hard))


def _number(error: BaseException) -> int | None:
    """The system's number of an error, or of the one that it was made of."""
    found = error if isinstance(error, OSError) else error.__cause__
    return found.errno if isinstance(found, OSError) else None


def _out_of_time(number: int, frame: FrameType | None) -> None:
    raise PubmillError(f"the program needs more than {SECONDS:,} s of processor time; {_ADVICE}")
