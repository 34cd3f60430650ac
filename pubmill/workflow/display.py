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
from logging import INFO, WARNING, Handler, LogRecord
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from pubmill.messages.progress import SLOWER
from pubmill.messages.stage_groups import GROUPS, OTHER, TARGET
from pubmill.messages.wording import counted, escape_controls
from pubmill.stages.all_stages import group_of
from pubmill.workflow.job_logs import StartedJob, duration, failure_lines, latest, slower_methods

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
