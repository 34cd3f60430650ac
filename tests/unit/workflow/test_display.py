"""The display of a run, by the events that Snakemake logs."""

import json
import re
import time
from logging import INFO, WARNING, Formatter, LogRecord
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pubmill.workflow.display import LogHandler


def handler(dry: bool = False) -> LogHandler:
    made = LogHandler(SimpleNamespace(dryrun=dry, nocolor=True, printshellcmds=False), None)  # type: ignore[arg-type]
    made.setFormatter(Formatter("%(message)s"))
    return made


def record(event: LogEvent | None, text: str = "", level: int = INFO, **values: Any) -> LogRecord:
    made = LogRecord("snakemake", level, "", 0, text, None, None)
    vars(made).update(event=event, **values)
    return made


def started(number: int, text: str, log: str = "", rule: str = "convert") -> LogRecord:
    return record(
        LogEvent.JOB_INFO, jobid=number, rule_name=rule, rule_msg=text, log=[log] if log else [],
        wildcards={"dataset": text}, reason="Missing output files",
    )  # fmt: skip


def said(capsys: pytest.CaptureFixture[str], *records: LogRecord, dry: bool = False) -> list[str]:
    display = handler(dry)
    for one in records:
        one.created = time.time()
        display.emit(one)
    display.close()
    out, error = capsys.readouterr()
    return re.sub(r"0:00:0\d", "0:00:00", out if dry else error).splitlines()


PLANNED = record(LogEvent.RUN_INFO, stats={"convert": 2, "score": 1, "all": 1, "total": 4})
DONE = record(LogEvent.JOB_FINISHED, job_id=1)


def test_a_run_with_a_good_job_and_a_failed_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "b.log"
    log.write_text("pubmill: error: b.tsv: No space left on device\n")
    failed = record(LogEvent.JOB_ERROR, jobid=2, log=[str(log)])
    noise = [record(None, "Using shell: bash"), record(LogEvent.ERROR, "CalledProcessError in x", WARNING)]
    jobs = [started(1, "a"), started(2, "b"), DONE, failed]
    lines = said(capsys, *noise, record(None, "Something to know"), PLANNED, *jobs)
    assert lines == [
        "Something to know", "3 jobs to run: convert 2, score 1", "[1/3] 0:00:00  a", "failed: b",
        "    b.tsv: No space left on device", f"    log: {log}",
        "1 of 3 jobs done in 0:00:00, 1 failed, 1 not run", f"failed: b  {log}",
    ]  # fmt: skip


def test_a_job_that_is_started_again_has_not_failed(capsys: pytest.CaptureFixture[str]) -> None:
    failed = record(LogEvent.JOB_ERROR, jobid=1, log=[])
    lines = said(capsys, PLANNED, started(1, "a"), failed, started(1, "a"), DONE)
    assert lines[-1] == "1 of 3 jobs done in 0:00:00, 2 not run"
    assert "    its log says nothing; the job may have been killed" in lines


def test_an_interrupted_run_has_no_failures(capsys: pytest.CaptureFixture[str]) -> None:
    stop = record(None, "Terminating processes on user request, this might take some time.", WARNING)
    lines = said(capsys, PLANNED, started(1, "a"), stop, record(LogEvent.JOB_ERROR, jobid=1, log=[]))
    assert lines[1:] == ["0 of 3 jobs done in 0:00:00, 3 not run"]


def test_slower_methods_are_repeated_at_the_end(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("pubmill: slower than planned: no compiler\n")
    lines = said(capsys, PLANNED, started(1, "a", str(tmp_path / "a.log")), DONE)
    assert lines[-1] == "slower than planned: 1 job: no compiler"


def test_a_dry_run_prints_each_job_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    [line] = said(capsys, PLANNED, started(1, "a"), dry=True)
    job = {"rule": "convert", "wildcards": {"dataset": "a"}, "text": "a", "reason": "Missing output files"}
    assert json.loads(line) == job
