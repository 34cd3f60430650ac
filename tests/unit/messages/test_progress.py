"""Progress messages: where they go, and what a closed pipe does."""

from types import SimpleNamespace

import pytest

from pubmill.messages import progress
from pubmill.messages.progress import report_progress, with_counts


def test_a_closed_pipe_ends_no_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report_progress("hello")
    assert capsys.readouterr().err == "pubmill: hello\n"

    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", broken)
    report_progress("hello")


def test_reports_are_as_far_apart_as_the_interval(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of items that end 5, 10, 15, 20 and 29 seconds after the start, the second and the fourth."""
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for seconds in with_counts((5.0, 10.0, 15.0, 20.0, 29.0), "items"):
        now[0] = seconds
    assert capsys.readouterr().err == "pubmill: 2 items\npubmill: 4 items\n"
