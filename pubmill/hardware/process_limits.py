"""Limits for programs that read files made by others: memory, processor time, size of their output.

The system enforces them, so that a malicious file ends only its own job. They are far above the needs of any
known file (benchmarks/README.md); a cluster's limits, from the rule's `mem_mb` and `runtime`, may be lower.
"""

import errno
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from pubmill.errors import PubmillError

MEMORY = 32_000_000_000
"""Bytes of address space; libraries reserve several times what they use."""
SECONDS = 24 * 3600
"""Processor time in seconds."""
GRACE = 60
"""Additional seconds in which a program may report that its time is over, before it is killed."""
WRITTEN = 200_000_000_000
"""Maximum bytes of one output file."""

_ADVICE = (
    "if the file that it reads is known to be sound, raise the limit in pubmill/hardware/process_limits.py"
)


@contextmanager
def _limited_process() -> Iterator[None]:
    bounds = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_CPU: SECONDS, resource.RLIMIT_FSIZE: WRITTEN}
    before = {kind: resource.getrlimit(kind) for kind in bounds}
    for kind, most in bounds.items():
        _lower_limit(kind, most)
    signal.signal(signal.SIGXCPU, _raise_out_of_time)
    try:
        yield
    except MemoryError:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        own = limit != resource.RLIM_INFINITY and limit < MEMORY
        most, advice = (limit, "this is the limit of `ulimit -v`; raise it") if own else (MEMORY, _ADVICE)
        raise PubmillError(f"the program needs more than {most:,} bytes of memory; {advice}") from None
    except (OSError, PubmillError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        too_large = isinstance(cause, OSError) and cause.errno == errno.EFBIG
        if too_large and resource.getrlimit(resource.RLIMIT_FSIZE)[0] == WRITTEN:
            raise PubmillError(f"a file that is written has more than {WRITTEN:,} bytes; {_ADVICE}") from None
        raise
    finally:
        for kind, limits in before.items():
            with suppress(ValueError):  # only root may raise the limit of processor time again
                resource.setrlimit(kind, limits)


def _lower_limit(kind: int, most: int) -> None:
    """Set a limit unless a lower one is set already."""
    soft, hard = resource.getrlimit(kind)
    lowest = min(bound for bound in (soft, hard, most) if bound != resource.RLIM_INFINITY)
    if kind == resource.RLIMIT_CPU:  # Without a handler for the signal, the system ends the program.
        hard = lowest + GRACE if hard == resource.RLIM_INFINITY else min(hard, lowest + GRACE)
    with suppress(ValueError):  # macOS has no limit of address space.
        resource.setrlimit(kind, (lowest, hard))


def _raise_out_of_time(number: int, frame: FrameType | None) -> None:
    raise PubmillError(f"the program needs more than {SECONDS:,} s of processor time; {_ADVICE}")


limited = _limited_process()
"""Wraps a program so that it runs under the limits; a `PubmillError` names the one that it exceeded."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
