"""How programs end."""

import signal

import pytest

from pubmill.errors import PubmillError, StopRequestedError, run


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (PubmillError("no file"), "pubmill: error: no file"),
        (StopRequestedError(signal.SIGINT), 130),
        (StopRequestedError(), 143),
    ],
)
def test_programs_exit_with_a_message_or_the_status_of_a_signal(error: Exception, status: str | int) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(SystemExit) as ended:
        run(fail)
    assert ended.value.code == status
