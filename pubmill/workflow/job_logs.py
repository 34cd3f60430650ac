"""Jobs that run, and what their logs report: their progress, and the reason when one failed."""

import os
import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pubmill.messages.progress import SLOWER

READ = 65536
"""Bytes at the end of a log that are read."""
REASON_LINES = 4
CLOCK_SECONDS = 60
"""Difference allowed between the clocks of this machine and of the file system."""
_ERROR = re.compile(r"pubmill: error: |[A-Za-z_.]*(Error|Exception|Interrupt)(: |$)")
_DEV = re.compile(r"dev (\S+) (-?\d+\.\d+)")
_LOSS = re.compile(r"\bloss\b")


@dataclass(frozen=True)
class StartedJob:
    """A job that was started. `text`: what it does; `logs`: paths; `started`: seconds since the epoch."""

    text: str
    logs: list[str]
    started: float


def last_lines(path: str, since: float) -> list[str]:
    """Return the lines at the end of a log that are not blank; none if the log is older than `since`, in
    seconds since the epoch: the log of an earlier run says nothing about a job that waits in a queue. If
    carriage returns overwrite a line, only its last text is returned."""
    lines = _read(path, since, at_end=True).split("\n")
    shown = (line.rstrip("\r").rpartition("\r")[2].rstrip() for line in lines)
    return [line for line in shown if line]


def slower_methods(path: str, since: float) -> list[str]:
    """Return the messages at the beginning of a log on methods of a GPU that did not work; none if it was not
    written `since` a time."""
    lines = (line.removeprefix("pubmill: ") for line in _read(path, since, at_end=False).splitlines())
    return [line.removeprefix(SLOWER) for line in lines if line.startswith(SLOWER)]


def _read(path: str, since: float, at_end: bool) -> str:
    """Return the beginning or the end of a log; nothing if it was not written `since` a time."""
    try:
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_mtime < since - CLOCK_SECONDS:
                return ""
            file.seek(max(0, status.st_size - READ) if at_end else 0)
            return file.read(READ).decode(errors="replace")
    except OSError:
        return ""


def latest(path: str, since: float = 0.0) -> str:
    """Return the progress that a log reports: its last line; of a fine-tuning, the last line with a loss and
    the best score on dev."""
    lines = [line.removeprefix("pubmill: ") for line in last_lines(path, since)]
    scores = [match for line in lines if (match := _DEV.search(line))]
    if not scores:
        return lines[-1] if lines else ""
    best = max(scores, key=lambda score: float(score[2]))
    losses = [line for line in lines if _LOSS.search(line)]
    line = losses[-1] if losses else lines[-1].partition(":")[0]
    return f"{line}; best dev {best[1]} {best[2]}"


def reason(path: str, since: float = 0.0) -> list[str]:
    """Return the lines of a log that say why its job failed: from the last error on, at most a few."""
    lines = last_lines(path, since)
    places = [place for place, line in enumerate(lines) if _ERROR.match(line)]
    if not places:
        return lines[-REASON_LINES:]
    tail = [line.removeprefix("pubmill: error: ") for line in lines[places[-1] :]]
    more = len(tail) - REASON_LINES
    return [*tail[:REASON_LINES], *([f"({more} more lines in the log)"] if more > 0 else [])]


def failure_lines(job: StartedJob) -> list[str]:
    """Return a failed job, the reason that its log gives (else that of its cluster job), and its logs."""
    reasons = filter(None, (reason(log, job.started) for log in job.logs))
    lines = next(reasons, ["its log says nothing; the job may have been killed"])
    logs = (f"    log: {log}" for log in job.logs)
    return [f"failed: {job.text}", *(f"    {line}" for line in lines), *logs]


def duration(seconds: float) -> str:
    """Return a time as `1:02:03`."""
    return str(timedelta(seconds=round(seconds)))
