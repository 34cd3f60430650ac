"""Lines on what a study leaves out are printed once."""

import atexit
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from pubmill.workflow.preparation import announce_left_out


@pytest.fixture
def at_exit(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Functions that are registered to run when the process ends."""
    registered: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", registered.append)
    return registered


def workflow(*, dry: bool = False, main: bool = True, scheduler: object = object()) -> SimpleNamespace:
    settings = SimpleNamespace(dryrun=dry)
    return SimpleNamespace(output_settings=settings, is_main_process=main, scheduler=scheduler)


def test_lines_are_printed_once_in_order(
    at_exit: list[Callable[[], None]], capsys: pytest.CaptureFixture[str]
) -> None:
    say = announce_left_out(workflow(), ["first", "second"])
    say()
    assert capsys.readouterr() == ("", "first\nsecond\n")
    say()
    (end,) = at_exit
    end()
    assert capsys.readouterr() == ("", "")


def test_a_dry_run_prints_them_at_its_end_on_standard_output(
    at_exit: list[Callable[[], None]], capsys: pytest.CaptureFixture[str]
) -> None:
    announce_left_out(workflow(dry=True), ["left out"])
    (end,) = at_exit
    end()
    assert capsys.readouterr() == ("left out\n", "")


def test_after_an_error_before_the_graph_nothing_is_printed(
    at_exit: list[Callable[[], None]], capsys: pytest.CaptureFixture[str]
) -> None:
    announce_left_out(workflow(scheduler=None), ["left out"])
    (end,) = at_exit
    end()
    assert capsys.readouterr() == ("", "")


def test_a_job_process_prints_nothing_at_its_end(at_exit: list[Callable[[], None]]) -> None:
    announce_left_out(workflow(main=False), ["left out"])
    assert at_exit == []
