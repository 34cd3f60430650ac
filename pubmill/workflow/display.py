"""Display of a run, Snakemake's `--logger pubmill`: a line for each job that ended, and, on a terminal, what
runs and what its log reports. A failed job is shown with the reason that its log gives. In a dry run, each
job is printed as a line of JSON instead (`jobs_of_study`). Snakemake's own log stays in `.snakemake/log`."""

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from logging import INFO, WARNING, Handler, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from pubmill.messages.progress import SLOWER
from pubmill.messages.stage_groups import GROUPS, OTHER, TARGET
from pubmill.messages.wording import counted, escape_controls
from pubmill.stages.stage import group_of

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
    """Return the messages at the beginning of a log on methods of a GPU that did not work; none if it was
    last written before `since`."""
    lines = (line.removeprefix("pubmill: ") for line in _read(path, since, at_end=False).splitlines())
    return [line.removeprefix(SLOWER) for line in lines if line.startswith(SLOWER)]


def _read(path: str, since: float, at_end: bool) -> str:
    """Return the beginning or the end of a log; nothing if it was last written before `since`."""
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


HIDDEN = re.compile(
    "^(Using profile |Building DAG of jobs|Using shell: |host: |Config file |Conda environments: ignored|"
    "Singularity containers: ignored|Assuming unrestricted shared filesystem|Group jobs: inactive)"
    "|Exiting because a job execution failed|At least one job did not|CalledProcessError in |Terminating proc"
)
"""Snakemake's messages that say nothing about the run, or less about a failed job than its log."""
INTERRUPTED = "Terminating processes on user request"
SHOWN = 8
"""Running or failed jobs."""


class LogHandler(LogHandlerBase):
    """The display."""

    writes_to_stream, writes_to_file = True, False
    has_filter, has_formatter = True, False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        Handler.__init__(self)  # which version 1 of the interface leaves out
        self.dry = bool(self.common_settings.dryrun)
        self.planned = self.done = 0
        self.running: dict[int, StartedJob] = {}
        self.failed: dict[int, StartedJob] = {}
        self.slower: Counter[str] = Counter()
        self.began: float | None = None
        self.interrupted = self.closed = False
        self.live: Any = None

    def emit(self, record: LogRecord) -> None:
        """Show what an event changes. A fault of the display is reported, and the run goes on."""
        try:
            self.list_job(record) if self.dry else self.show(record)
        except Exception:
            self.handleError(record)

    def list_job(self, record: Any) -> None:
        """Print a job of a dry run as JSON, and errors."""
        if getattr(record, "event", None) == LogEvent.JOB_INFO:
            names = {"rule": record.rule_name, "wildcards": dict(record.wildcards or {})}
            print(json.dumps({**names, "text": record.rule_msg or "", "reason": record.reason}))
        elif record.levelno >= WARNING:
            self.say([self.format(record)])

    def show(self, record: Any) -> None:
        """Show an event of a run."""
        text = str(record.msg)
        self.interrupted = self.interrupted or text.startswith(INTERRUPTED)
        match getattr(record, "event", None):
            case LogEvent.RUN_INFO:
                rules = {rule: n for rule, n in record.stats.items() if rule not in (TARGET, "total")}
                self.planned, self.began = sum(rules.values()), record.created
                groups = Counter(group_of(rule) for rule, number in rules.items() for _ in range(number))
                stages = ", ".join(f"{name} {groups[name]}" for name in (*GROUPS, OTHER) if groups[name])
                self.say([f"{counted(self.planned, 'job')} to run: {stages}"])
                if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
                    from rich.console import Console
                    from rich.live import Live

                    on = Console(stderr=True)
                    self.live = Live(None, console=on, get_renderable=self.screen, transient=True)
                    self.live.start()
            case LogEvent.JOB_INFO if record.rule_name != TARGET:
                self.failed.pop(record.jobid, None)  # it is started again
                started = StartedJob(record.rule_msg or record.rule_name, list(record.log), record.created)
                self.running[record.jobid] = started
            case LogEvent.JOB_FINISHED if job := self.running.pop(record.job_id, None):
                self.done += 1
                self.slower.update(text for log in job.logs for text in slower_methods(log, job.started))
                spent = duration(record.created - job.started)
                self.say([f"[{self.done}/{self.planned}] {spent}  {job.text}"])
            case LogEvent.JOB_ERROR if job := self.running.pop(record.jobid, None):
                job = StartedJob(job.text, list(record.log), job.started)  # with the log of a cluster's job
                self.failed[record.jobid] = job
                self.say([] if self.interrupted else failure_lines(job))
            case LogEvent.SHELLCMD if self.common_settings.printshellcmds:
                self.say([text])
            case None | LogEvent.ERROR if not HIDDEN.search(text):
                if record.levelno >= (WARNING if self.planned else INFO):  # a run's jobs have their own lines
                    self.say(self.format(record).splitlines())

    def say(self, lines: Iterable[str]) -> None:
        """Print lines, above what is running."""
        for line in map(escape_controls, lines):
            if self.live:
                self.live.console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)
            else:
                print(line, file=sys.stderr, flush=True)

    def screen(self) -> Any:
        """Return what runs on a terminal: the longest running jobs, and what their logs report."""
        from rich.text import Text

        now = time.time()
        lines = [f"{self.done} of {self.planned} jobs, {duration(now - (self.began or now))} so far"]
        for job in sorted(self.running.copy().values(), key=lambda one: one.started)[:SHOWN]:
            news = [latest(log, job.started) for log in job.logs[:1]]
            lines.append("  ".join(["", duration(now - job.started), job.text, *news]))
        text = "\n".join(map(escape_controls, lines))
        return Text(text, no_wrap=True, overflow="ellipsis")

    def close(self) -> None:
        """End the display with a summary of the run."""
        if not self.closed:
            self.closed = True
            if self.live:
                self.live.stop()
                self.live = None
            if self.began and not self.dry:
                self.say(self.summary(time.time() - self.began))
        super().close()

    def summary(self, seconds: float) -> list[str]:
        """Return the end of a run: what was made, what failed and what was not reached."""
        failed = [] if self.interrupted else list(self.failed.values())
        left = self.planned - self.done - len(failed)
        ends = [f", {len(failed)} failed"] * bool(failed) + [f", {left} not run"] * bool(left)
        return [
            f"{self.done} of {self.planned} jobs done in {duration(seconds)}" + "".join(ends),
            *(f"failed: {'  '.join([job.text, *job.logs])}" for job in failed[:SHOWN]),
            *(f"{SLOWER}{counted(jobs, 'job')}: {text}" for text, jobs in self.slower.items()),
        ]
