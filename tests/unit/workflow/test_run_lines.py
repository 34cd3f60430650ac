"""Lines that describe a run, at the lengths and numbers from which they are shortened."""

from pathlib import Path

import pytest

from pubmill.workflow.run_lines import (
    duration,
    job_line,
    left_out_lines,
    plan_lines,
    shortened,
    stage_lines,
    status_line,
    summary_lines,
)
from pubmill.workflow.run_progress import RunProgress, StartedJob
from tests.unit.workflow.run_events import fail, finish, plan, start


def progress_after(*records: object) -> RunProgress:
    progress = RunProgress()
    for each in records:
        progress.add(each)  # type: ignore[arg-type]
    return progress


def test_times_are_rounded_to_seconds() -> None:
    assert [duration(seconds) for seconds in (0.4, 59.6, 3723)] == ["0:00:00", "0:01:00", "1:02:03"]


def test_a_text_of_more_than_sixty_characters_loses_its_middle() -> None:
    text = "".join(chr(33 + number) for number in range(61))
    assert shortened(text[:60]) == text[:60]
    assert shortened(text) == f"{text[:30]}...{text[31:]}"


@pytest.mark.parametrize(
    ("number", "shown", "last"), [(6, 6, "5"), (7, 7, "6"), (8, 7, "and 2 more left out")]
)
def test_a_line_is_left_out_only_where_several_are(number: int, shown: int, last: str) -> None:
    found = left_out_lines([str(one) for one in range(number)])
    assert (len(found), found[-1]) == (shown, last)


def test_what_is_left_out_fits_the_screen_and_keeps_addresses_whole() -> None:
    address = f"https://example.org/{'a-' * 50}"
    found = left_out_lines([f"left out of the tables: bioasq-yesno (needs files from {address} of your own)"])
    assert [line for line in found if len(line) > 80] == [f"  {address}"]
    assert " ".join(line.strip() for line in found).endswith(f"from {address} of your own)")


def test_a_job_without_a_log_is_its_time_and_its_text(tmp_path: Path) -> None:
    assert job_line(StartedJob("trial", "Trial 1", (), (), 1000.0), 1005.0) == "  0:00:05  Trial 1"
    (tmp_path / "a.log").write_text("half\n")
    logs = (str(tmp_path / "a.log"), "b.log")
    line = job_line(StartedJob("trial", "Trial 1", logs, (), 1000.0), 1005.0)
    assert line == f"  0:00:05  Trial 1  half  {logs[0]}  b.log", "the progress is that of the first log"


def test_counts_of_stages_are_aligned() -> None:
    progress = progress_after(plan(trial=100, report=1), start(1, "trial"), finish(1, 1.0))
    assert stage_lines(progress) == ["  trials        1/100", "  report        0/1"]
    assert plan_lines(progress, ()) == [
        "101 jobs would run:",
        "  trials      100",
        "  report        1",
        "The command above lists every job with its reason.",
    ]


def test_the_status_has_what_is_known() -> None:
    assert status_line(RunProgress(), 1000.0) == "0 of 0 jobs"
    begun = progress_after(plan(trial=4), start(1, "trial"), start(2, "trial"))
    assert status_line(begun, 1010.0) == "0 of 4 jobs (0%), 0:00:10 so far"
    later = progress_after(
        plan(trial=4), start(1, "trial"), start(2, "trial"), finish(1, 10.0), fail(2, "a.log", 10.0)
    )
    assert status_line(later, 1010.0) == ("1 of 4 jobs (25%), 1 failed, 0:00:10 so far, about 0:00:20 left")


@pytest.mark.parametrize(("number", "more"), [(20, 0), (21, 1)])
def test_a_summary_names_twenty_failures(number: int, more: int) -> None:
    progress = progress_after(
        plan(trial=number),
        *(each for one in range(number) for each in (start(one, "trial", f"Trial {one}"), fail(one, "none"))),
    )
    found = summary_lines(progress, [], 1000.0)
    assert found[0] == f"0 of {number} jobs done in 0:00:00, {number} failed:"
    assert sum(line.startswith("failed: ") for line in found) == 20
    assert found.count("and 1 more that failed") == more


def test_a_summary_counts_what_was_not_run() -> None:
    progress = progress_after(plan(trial=3), start(1, "trial"), finish(1, 1.0))
    assert summary_lines(progress, ["a.html"], 1001.0) == [
        "1 of 3 jobs done in 0:00:01, 2 not run:", "  trials      1/3", "To read: a.html",
    ]  # fmt: skip
    assert summary_lines(RunProgress(), [], 1001.0) == ["0 of 0 jobs done:"]


def test_the_summary_names_methods_that_did_not_work_once_with_their_jobs(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    progress = progress_after(plan(pretrain=2))
    for number in (1, 2):
        progress.add(start(number, "pretrain", log=str(log)))
        log.write_text("pubmill: slower than planned: no C compiler\npubmill: step 1\n")
        progress.add(finish(number, 10.0))
    lines = summary_lines(progress, ["a.html"], 1020.0)
    assert lines[-2:] == ["slower than planned: 2 jobs: no C compiler", "To read: a.html"]
