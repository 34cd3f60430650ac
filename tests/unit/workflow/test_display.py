"""The display of a run, by the events that Snakemake logs and by the logs of jobs."""

import json
import os
import re
import time
from logging import INFO, WARNING, Formatter, LogRecord
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pubmill.workflow.display import READ, LogHandler, latest, reason, slower_methods


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


PRETRAINING = (
    "pubmill: step 20/40 (of 40)  loss 6.100  12,000 tokens/s  MFU 3%  1 min left\n"
    "pubmill: step 30/40 (of 40)  loss 5.900  12,100 tokens/s  MFU 3%  0 min left\n"
)
FINETUNING = (
    "pubmill: step 13/39: dev entity_f1 0.4082\npubmill: step 20/39: loss 0.5000, 9 s left\n"
    "pubmill: step 26/39: dev entity_f1 0.4713\npubmill: step 30/39: loss 0.2500, 3 s left\n"
    "pubmill: step 39/39: dev entity_f1 0.4503\n"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PRETRAINING, "step 30/40 (of 40)  loss 5.900  12,100 tokens/s  MFU 3%  0 min left"),
        (FINETUNING, "step 30/39: loss 0.2500, 3 s left; best dev entity_f1 0.4713"),
        ("pubmill: step 13/39: dev pearson -0.0500\n", "step 13/39; best dev pearson -0.0500"),
        ("pubmill: 12,000 documents\n\n", "12,000 documents"),
        ("start\nload:   0%\rload:  50%\rload: 100%\r\n", "load: 100%"),
        ("", ""),
    ],
)
def test_the_latest_progress_of_a_log(tmp_path: Path, text: str, found: str) -> None:
    log = tmp_path / "job.log"
    log.write_text(text)
    assert latest(str(log)) == found


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("reading\npubmill: error: a.tsv:3: no tab\n  expected 2 columns\n",
         ["a.tsv:3: no tab", "  expected 2 columns"]),
        ("pubmill: error: 1\nTraceback (most recent call last):\n  File\ntorch.OutOfMemoryError: CUDA\n",
         ["torch.OutOfMemoryError: CUDA"]),
        ("1\n2\n3\n4\n5\nKilled\n", ["3", "4", "5", "Killed"]),
        ("first\npubmill: error: a\nb\nc\nd", ["a", "b", "c", "d"]),
        ("first\npubmill: error: a\nb\nc\nd\ne", ["a", "b", "c", "d", "(1 more lines in the log)"]),
        ("", []),
    ],
)  # fmt: skip
def test_the_reason_of_a_failure(tmp_path: Path, text: str, lines: list[str]) -> None:
    log = tmp_path / "job.log"
    log.write_text(text)
    assert reason(str(log)) == lines


def test_a_log_that_is_long_or_not_text_or_missing(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_bytes(b"first\n" + b"x" * READ + b"\n\xff last\n")
    assert latest(str(log)) == "\ufffd last"
    assert (latest(str(tmp_path / "none")), reason(str(tmp_path))) == ("", [])


@pytest.mark.parametrize(("since", "heard"), [(5001.0, True), (5060.0, True), (5060.5, False)])
def test_a_log_of_an_earlier_run_says_nothing(tmp_path: Path, since: float, heard: bool) -> None:
    """Clocks may differ by a minute."""
    log = tmp_path / "job.log"
    log.write_text("pubmill: error: of a job\npubmill: slower than planned: x\n")
    os.utime(log, (5000.0, 5000.0))
    assert bool(latest(str(log), since)) == bool(reason(str(log), since)) == heard
    assert bool(slower_methods(str(log), since)) == heard


def test_methods_that_do_not_work_are_found_at_the_beginning_of_a_long_log(tmp_path: Path) -> None:
    log, text = tmp_path / "log", "pubmill: slower than planned: compiled layers do not work here\n"
    log.write_text(f"a warning\n{text}" + "pubmill: step 3: loss 7.0\n" * READ)
    assert slower_methods(str(log), 0.0) == ["compiled layers do not work here"]
    assert slower_methods(str(tmp_path / "none"), 0.0) == []
