"""Display of a run: its lines with and without a terminal, its end, its plan."""

import io
import logging
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pubmill.stages.all_stages import stages
from pubmill.workflow import run_display
from pubmill.workflow.run_display import LogHandler
from pubmill.workflow.run_lines import failure_lines
from pubmill.workflow.run_progress import StartedJob
from tests.unit.workflow.run_events import fail, finish, plan, record, start


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is 30 seconds after the first event."""
    monkeypatch.setattr(run_display, "time", SimpleNamespace(time=lambda: 1030.0))


@pytest.fixture
def shown() -> io.StringIO:
    """What the display of a test writes; no terminal."""
    return io.StringIO()


def display(stream: TextIO | None = None, **settings: Any) -> LogHandler:
    """A display that writes to a stream instead of standard error."""
    usual = {"dryrun": False, "stdout": False, "nocolor": False, "printshellcmds": False}
    handler = LogHandler(SimpleNamespace(**usual | settings), None)  # type: ignore[arg-type]
    handler.stream = stream or handler.stream
    handler.on_terminal = handler.stream.isatty()
    return handler


def emit(handler: LogHandler, *records: logging.LogRecord) -> LogHandler:
    for each in records:
        handler.emit(each)
    return handler


def failing_run(log: Path) -> list[logging.LogRecord]:
    """A run with a job that succeeds, one that fails, and one that is not reached."""
    log.write_text("pubmill: error: jnlpba:\x1b[2J no tab\n  expected 2 columns\n", encoding="utf-8")
    last = "WorkflowError:\nAt least one job did not complete successfully."
    command = 'RuleException:\nCalledProcessError in file "rules/datasets.smk", line 22:\nCommand ...'
    return [
        record("Building DAG of jobs..."),
        plan(convert=2, report=1),
        start(1, "convert", "Converting bc2gm", "results/demo/logs/datasets/bc2gm.log", ("bc2gm.html",)),
        start(2, "convert", "Converting jnlpba", str(log)),
        record("Select jobs to execute..."),
        finish(1, 10.0),
        record(command, level=logging.ERROR, event=LogEvent.ERROR, exception="RuleException"),
        fail(2, str(log), 10.0),
        record("Exiting because a job execution failed. Look above", level=logging.ERROR),
        record(last, level=logging.ERROR, event=LogEvent.ERROR, exception="WorkflowError"),
    ]


def test_without_a_terminal_each_job_is_a_line_and_the_end_a_summary(
    shown: io.StringIO, tmp_path: Path
) -> None:
    log = tmp_path / "jnlpba.log"
    handler = display(shown)
    handler.describe(["left out of the tables: mednli (licence)"], list)
    emit(handler, *failing_run(log)).close()
    handler.close()  # Python closes all handlers again at its end.
    assert shown.getvalue().splitlines() == [
        "left out of the tables: mednli (licence)",
        "3 jobs to run: convert 2, report 1",
        "[1/3] 0:00:10  Converting bc2gm",
        f"failed: Converting jnlpba  {log}",
        "1 of 3 jobs done in 0:00:30, 1 failed, 1 not run:",
        "  convert     1/2  1 failed",
        "  report      0/1",
        "failed: Converting jnlpba",
        "    jnlpba:\\x1b[2J no tab",
        "      expected 2 columns",
        f"    log: {log}",
    ]


def test_the_summary_names_requested_pages_that_were_made(shown: io.StringIO, tmp_path: Path) -> None:
    old, new = tmp_path / "old.html", tmp_path / "new.html"
    for page in (old, new):
        page.touch()
    requested = [str(old), str(new), str(tmp_path / "never.html")]
    job = start(1, "report", output=(str(new), str(tmp_path / "other.html")))
    good, bad = display(shown), display(shown)
    for handler in (good, bad):
        handler.describe([], lambda: requested)
        emit(handler, plan(report=2), job, finish(1, 1.0))
    good.close()
    assert shown.getvalue().splitlines()[-2:] == [f"To read: {old}", f"To read: {new}"]
    emit(bad, start(2, "report"), fail(2, "none.log")).close()
    assert shown.getvalue().splitlines()[-3:] == [
        "    its log says nothing; the job may have been killed",
        "    log: none.log",
        f"To read: {new}",
    ]


def test_many_failures_are_counted(
    shown: io.StringIO,
) -> None:
    handler = emit(display(shown), plan(trial=30))
    for number in range(30):
        emit(handler, start(number, "trial", f"Trial {number}"), fail(number, "none.log"))
    handler.close()
    lines = shown.getvalue().splitlines()
    assert lines[-1] == "and 10 more that failed"
    assert lines.count("failed: Trial 19") == 1
    assert "failed: Trial 20" not in lines


@pytest.mark.parametrize("left_out", [0, 7, 99])
def test_the_plan_of_a_large_study_is_short(capsys: pytest.CaptureFixture[str], left_out: int) -> None:
    handler = display(dryrun=True, stdout=True)
    handler.describe([f"left out of the tables: {number} (licence)" for number in range(left_out)], list)
    counts = dict.fromkeys(stages(), 1234)
    jobs = [start(number, "trial", f"Trial {number}") for number in range(500)]
    triggers = record("Some jobs were triggered by provenance information\nsee above")
    emit(handler, record("Building DAG of jobs..."), plan(**counts), *jobs, plan(**counts), triggers).close()
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert len(lines) <= 23  # The command and Snakemake's profile are two more.
    assert lines[:2] == [f"{1234 * len(counts)} jobs would run:", "  download     6170"]
    assert ("and 93 more left out" in lines) == (left_out == 99)
    assert lines[-1].endswith("and all that is left out." if left_out == 99 else "every job with its reason.")


def test_a_study_without_anything_to_do_names_its_page(shown: io.StringIO, tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    page.touch()
    handler = display(shown)
    handler.describe(["left out of the tables: mednli (licence)"], lambda: [str(page)])
    emit(handler, record("Nothing to be done (all requested files are present and up to date).")).close()
    assert shown.getvalue().splitlines() == [
        "Nothing to be done (all requested files are present and up to date).",
        "left out of the tables: mednli (licence)",
        f"To read: {page}",
    ]


def test_messages_of_snakemake_are_kept_before_and_errors_also_during_a_run(
    shown: io.StringIO,
) -> None:
    missing = record("MissingInputException in rule x", level=logging.ERROR, event=LogEvent.ERROR)
    emit(display(shown), record("Unlocked working directory."), missing).close()
    assert shown.getvalue() == "Unlocked working directory.\nMissingInputException in rule x\n"
    output = record("MissingOutputException: x.json", level=logging.ERROR, event=LogEvent.ERROR)
    emit(display(shown), plan(trial=1), output, record("slow disk", level=logging.WARNING))
    assert shown.getvalue().splitlines()[-2:] == ["MissingOutputException: x.json", "slow disk"]


@pytest.mark.parametrize(("asked", "lines"), [(True, 2), (False, 1)])
def test_commands_are_shown_if_that_is_asked_for(shown: io.StringIO, asked: bool, lines: int) -> None:
    command = record("Shell command: true", event=LogEvent.SHELLCMD, shellcmd="true", indent=False)
    emit(display(shown, printshellcmds=asked), plan(trial=1), command)
    assert len(shown.getvalue().splitlines()) == lines


def test_a_fault_of_the_display_does_not_end_the_run(
    shown: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = display(shown)
    emit(handler, record("odd", event=LogEvent.RUN_INFO), plan(trial=1))
    assert "AttributeError" in capsys.readouterr().err
    assert shown.getvalue() == "1 jobs to run: trials 1\n"


def test_a_cluster_job_that_did_not_start_gives_the_reason_of_the_cluster(tmp_path: Path) -> None:
    ours, cluster = tmp_path / "job.log", tmp_path / "slurm.log"
    ours.write_text("pubmill: error: of last week\n")
    os.utime(ours, (0, 0))
    cluster.write_text("slurmstepd: error: out of memory\n")
    job = StartedJob("trial", "Trial 1", (str(ours), str(cluster)), (), started=1000.0)
    assert failure_lines(job)[:2] == ["failed: Trial 1", "    slurmstepd: error: out of memory"]


def test_lines_end_at_once_so_that_a_log_is_read_while_it_grows(tmp_path: Path) -> None:
    with (tmp_path / "run.log").open("w", buffering=65536) as stream:
        handler = emit(display(stream), plan(trial=2))
        assert (tmp_path / "run.log").read_text() == "2 jobs to run: trials 2\n"
        handler.close()
