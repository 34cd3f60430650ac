"""Waiting in tests, the order of files, and reporting the failure of a shared fixture."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import LONGEST, pytest_collection_modifyitems
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


def test_the_longest_files_start_first_and_the_others_stay_in_order(root: Path) -> None:
    assert [name for name in LONGEST if not (root / name).is_file()] == []
    files = ["tests/unit/b.py", LONGEST[1], "tests/unit/a.py", LONGEST[0], LONGEST[0]]
    items: list[Any] = [SimpleNamespace(location=(file, number, "")) for number, file in enumerate(files)]
    pytest_collection_modifyitems(items)
    assert [item.location[1] for item in items] == [3, 4, 1, 0, 2]
