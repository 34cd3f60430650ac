"""Waiting in tests, and reporting the failure of a shared fixture."""

import os

import pytest

from tests.waiting import patience, wait_until


def test_patience_grows_with_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.5, 0.0, 0.0))
    assert patience(60) == 60
    monkeypatch.setattr(os, "getloadavg", lambda: (6.0, 0.0, 0.0))
    assert patience(60) == 180


def test_a_wait_that_has_run_out_names_what_was_waited_for() -> None:
    with pytest.raises(AssertionError, match="for the tide in vain"):
        wait_until(lambda: False, 0, "the tide", pause=0)
    answers = iter([False, True])
    wait_until(lambda: next(answers), 60, "the tide", pause=0)
