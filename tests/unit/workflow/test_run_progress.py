"""State of a run: counts, retries, and the time left."""

from pubmill.workflow.run_progress import RunProgress
from tests.unit.workflow.run_events import fail, finish, plan, record, start


def progress_after(*records: object) -> RunProgress:
    progress = RunProgress()
    for each in records:
        progress.add(each)  # type: ignore[arg-type]
    return progress


def test_jobs_are_counted_by_stage_without_the_target_rule() -> None:
    progress = progress_after(
        plan(trial=2, choose=1, report=1, theirs=1),
        record("Building DAG of jobs..."),
        start(1, "trial"),
        start(2, "trial"),
        start(0, "all"),
        finish(1, 2.0),
        finish(0, 2.0),
        fail(2, "a.log"),
    )
    assert progress.stages() == [("trials", 1, 3, 1), ("report", 0, 1, 0), ("other", 0, 1, 0)]
    assert progress.running == {}


def test_a_job_that_is_tried_again_has_not_failed() -> None:
    events = [plan(trial=1), start(1, "trial", "the trial"), fail(1, "a.log")]
    assert [job.text for job in progress_after(*events).failed.values()] == ["the trial"]
    again = progress_after(*events, start(1, "trial", "the trial", at=5))
    assert (again.failed, list(again.running)) == ({}, [1])
    assert progress_after(*events, start(1, "trial"), finish(1, 9.0)).stages() == [("trials", 1, 1, 0)]


def test_the_pages_of_finished_jobs_are_kept() -> None:
    page = start(1, "report", output=("r/demo.md", "r/demo.html"))
    assert progress_after(plan(report=1), page).pages == []
    assert progress_after(plan(report=1), page, finish(1, 1.0)).pages == ["r/demo.html"]


def test_the_time_left_comes_from_finished_jobs_of_the_same_rule() -> None:
    events = [plan(trial=6, report=1), start(1, "trial"), start(2, "trial")]
    assert progress_after(*events).seconds_left(1005.0) == (None, True)
    events += [finish(1, 10.0), finish(2, 10.0), start(3, "trial", at=10), start(4, "trial", at=10)]
    # Two at once: 2 that wait and 2 with half of their 10 seconds to go; no report has finished yet.
    assert progress_after(*events).seconds_left(1015.0) == (15.0, True)
    without_report = [plan(trial=6), *events[1:]]
    assert progress_after(*without_report).seconds_left(1015.0) == (15.0, False)
    # A failed job is not waited for, and one that takes longer than the mean is expected to end now.
    late = progress_after(*without_report, fail(4, "a.log"))
    assert late.seconds_left(1040.0) == (20.0 / (50 / 40), False)


def test_nothing_is_left_of_a_complete_run() -> None:
    events = [plan(trial=1), start(1, "trial"), finish(1, 10.0)]
    assert progress_after(*events).seconds_left(1010.0) == (None, False)
