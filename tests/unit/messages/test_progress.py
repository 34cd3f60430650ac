"""Progress messages: where they go, and what a closed pipe does."""

import pytest

from pubmill.messages.progress import report_progress


def test_a_closed_pipe_ends_no_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report_progress("hello")
    assert capsys.readouterr().err == "pubmill: hello\n"

    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", broken)
    report_progress("hello")
