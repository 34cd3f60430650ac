"""The limits that the system is asked for; the system is a stand-in."""

import errno
import resource
import signal
from datetime import timedelta

import pytest

from pubmill.errors import PubmillError
from pubmill.hardware.process_limits import GRACE, MEMORY, WRITTEN, limited

DAY = int(timedelta(days=1).total_seconds())
NONE = resource.RLIM_INFINITY
KINDS = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> dict[int, tuple[int, int]]:
    """Soft and hard limits of this process, by kind."""
    found = dict.fromkeys(KINDS, (NONE, NONE))
    monkeypatch.setattr(resource, "getrlimit", found.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", found.__setitem__)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    return found


def test_a_program_may_compute_for_a_day_and_then_report(limits: dict[int, tuple[int, int]]) -> None:
    limited(lambda: None)()
    assert limits == {
        resource.RLIMIT_AS: (MEMORY, NONE),
        resource.RLIMIT_CPU: (DAY, DAY + GRACE),
        resource.RLIMIT_FSIZE: (WRITTEN, NONE),
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((100, NONE), (100, 100 + GRACE)),
        ((NONE, 500), (500, 500)),
        ((100, 120), (100, 120)),
        ((DAY + 1, DAY + 9), (DAY, DAY + 9)),
        ((DAY + 1, 2 * DAY), (DAY, DAY + GRACE)),
    ],
)
def test_lower_limits_of_processor_time_stay(
    limits: dict[int, tuple[int, int]], before: tuple[int, int], after: tuple[int, int]
) -> None:
    limits[resource.RLIMIT_CPU] = before
    limited(lambda: None)()
    assert limits[resource.RLIMIT_CPU] == after


def test_lower_limits_of_memory_stay(limits: dict[int, tuple[int, int]]) -> None:
    limits[resource.RLIMIT_AS] = (10**9, 10**10)
    limited(lambda: None)()
    assert limits[resource.RLIMIT_AS] == (10**9, 10**10)


def failing(error: Exception, cause: Exception | None = None) -> None:
    def main() -> None:
        raise error from cause

    limited(main)()


def test_other_errors_stay_as_they_are(limits: dict[int, tuple[int, int]]) -> None:
    with pytest.raises(PubmillError, match="^mine$"):
        failing(PubmillError("mine"))
    with pytest.raises(PubmillError, match="^mine$"):
        failing(PubmillError("mine"), KeyError("cause"))
    with pytest.raises(OSError, match="No space"):
        failing(OSError(errno.ENOSPC, "No space left on device"))


def test_a_lower_limit_of_file_size_is_somebody_elses(
    limits: dict[int, tuple[int, int]],
) -> None:
    limits[resource.RLIMIT_FSIZE] = (1000, NONE)
    with pytest.raises(OSError, match="File too large"):
        failing(OSError(errno.EFBIG, "File too large"))
