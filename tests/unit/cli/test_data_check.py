"""`pubmill doctor data`: what is checked, and the status."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from pubmill.cli.app import APP
from pubmill.inspection import converted_datasets
from pubmill.inspection.data_check import checks, data_check_printing


@pytest.mark.parametrize(
    ("faults", "status"), [([], 1), ([[]], 0), ([[], []], 0), ([[], ["a count differs"]], 1)]
)
@pytest.mark.parametrize(("options", "processes"), [([], 7), (["--processes", "3"], 3)])
@pytest.mark.usefixtures("checkout")
def test_the_status_says_whether_all_that_was_checked_is_right(
    monkeypatch: pytest.MonkeyPatch,
    faults: list[list[str]],
    status: int,
    options: list[str],
    processes: int,
) -> None:
    """Where nothing could be checked, nothing is right."""
    outcomes = [SimpleNamespace(dataset=f"d{n}", seconds=1.0, faults=one) for n, one in enumerate(faults)]
    asked: list[Any] = []
    monkeypatch.setattr("pubmill.specs.load", lambda *_: SimpleNamespace(datasets={"b": 1, "a": 2}))
    monkeypatch.setattr("pubmill.stages.Graph", lambda study, specs: SimpleNamespace(specs=specs))
    monkeypatch.setattr("pubmill.hardware.process_limits.cores", lambda: 7)
    monkeypatch.setattr(converted_datasets, "check_name", lambda specs, name: None)

    def plan(_: Any, names: list[str]) -> Any:
        asked.append(names)
        return outcomes, ["c"]

    def check_all(tasks: list[Any], processes: int) -> Iterator[Any]:
        asked.append(processes)
        return iter(tasks)

    monkeypatch.setattr(checks, "plan", plan)
    monkeypatch.setattr(checks, "check_all", check_all)
    monkeypatch.setattr(data_check_printing, "print_outcomes", lambda _, found, left: print(len(found), left))
    answer = CliRunner().invoke(APP, ["doctor", "data", *options])
    assert answer.exit_code == status
    assert asked == [["a", "b"], processes]
    number = len(faults)
    assert f"{number} ['c']\n0 seconds in {processes} processes\n" in answer.output
    assert f"{number} of {number}: d{number - 1}, 1.0 s" in answer.output or not number
