"""Display of a run: a Snakemake log handler that shows stages and running jobs instead of single events. On a
terminal it redraws one line per stage and per running job; elsewhere it prints a line per finished job.
Snakemake's own warnings and errors are always shown, and its full log stays in `.snakemake/log`."""

import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from logging import INFO, WARNING, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from pubmill.messages.wording import escape_controls
from pubmill.workflow import run_lines
from pubmill.workflow.run_progress import RunProgress, StartedJob

NOTHING = "Nothing to be done"
ROUTINE = (
    *("Building DAG of jobs", "Using shell: ", "host: ", "Config file ", "Conda environments: ignored"),
    *("Singularity containers: ignored", "Assuming unrestricted shared filesystem"),
)
"""Beginnings of Snakemake's messages before the first job that say nothing about the run."""
FAILED_JOB = ("Exiting because a job execution failed", "At least one job did not", "CalledProcessError in ")
"""Parts of Snakemake's errors about failed jobs, whose own reasons are shown."""


class LogHandler(LogHandlerBase):
    """The display. `describe` gives it what only the workflow knows; `failed_cells`: lines on cells that
    failed trainings leave empty."""

    writes_to_stream, writes_to_file = True, False
    has_filter, has_formatter = True, False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self.progress = RunProgress()
        self.left_out: list[str] = []
        self.failed_cells: list[str] = []
        self.requested_pages: Callable[[], list[str]] = list
        self.dry = bool(self.common_settings.dryrun)
        self.nothing_to_do = self.closed = False
        self.live: Any = None
        self.stdout: int | None = None
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.on_terminal = self.stream.isatty() and os.environ.get("TERM") != "dumb"

    def describe(self, left_out: list[str], requested_pages: Callable[[], list[str]]) -> None:
        """Set what the study leaves out, and the pages that a run was asked for."""
        self.left_out, self.requested_pages = left_out, requested_pages

    def mute_jobs(self) -> None:
        """Keep jobs that start from now on from writing into the display: pretraining copies its log to
        standard output. The main thread calls this before the first job; events reach the display later."""
        if self.on_terminal and os.isatty(1):
            self.stdout = os.dup(1)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.close(null)

    def emit(self, record: LogRecord) -> None:
        """Show what an event changes. A fault of the display is reported, and the run goes on."""
        try:
            self._show(record)
        except Exception:
            self.handleError(record)

    def _show(self, record: LogRecord) -> None:
        event = getattr(record, "event", None)
        ended = self.progress.add(record)
        if event == LogEvent.RUN_INFO and not self.dry:
            self._say(run_lines.left_out_lines(self.left_out))
            self._begin()
        elif event == LogEvent.JOB_ERROR:
            self._say([run_lines.failed_line(ended)] if ended else [])
        elif event == LogEvent.JOB_FINISHED:
            if ended and not self.live:
                self._say([run_lines.finished_line(ended, self.progress, record.created)])
        elif self._is_shown(record):
            self._say(self.format(record).splitlines())

    def _is_shown(self, record: LogRecord) -> bool:
        """Return whether a message is shown as Snakemake words it."""
        event = getattr(record, "event", None)
        text = str(record.msg)
        self.nothing_to_do = self.nothing_to_do or text.startswith(NOTHING)
        if event == LogEvent.SHELLCMD:
            return bool(self.common_settings.printshellcmds)
        if record.levelno >= WARNING:
            return event in (None, LogEvent.ERROR) and not any(part in text for part in FAILED_JOB)
        known = bool(self.progress.planned) or text.startswith(ROUTINE)
        return event is None and record.levelno >= INFO and not known

    def _say(self, lines: Iterable[str]) -> None:
        """Print lines, above the display if there is one."""
        for line in lines:
            text = escape_controls(line)
            if self.live:
                self.live.console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)
            else:
                print(text, file=self.stream, flush=True)

    def _begin(self) -> None:
        """Start the display on a terminal; without one, print the number of jobs."""
        if not self.on_terminal:
            self._say([run_lines.start_line(self.progress)])
            return
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self.stream, no_color=bool(self.common_settings.nocolor))
        screen = partial(self._screen, console)
        self.live = Live(get_renderable=screen, console=console, refresh_per_second=1, transient=True)
        self.live.start()

    def _screen(self, console: Any) -> Any:
        """Return the display as it is now: each line is one line of the screen; jobs link to their logs."""
        from rich.text import Text

        now, progress = time.time(), self.progress
        stages, running = run_lines.stage_lines(progress), run_lines.longest_running(progress)
        room = max(1, console.height - len(stages) - 3)
        more = [f"  and {len(running) - room} more that run"] if len(running) > room else []
        lines = [(line, "") for line in stages]
        lines += [(run_lines.job_line(job, now), link(job)) for job in running[:room]]
        lines += [(line, "") for line in (*more, run_lines.status_line(progress, now))]
        texts = [Text(escape_controls(line), style) for line, style in lines]
        return Text("\n", no_wrap=True, overflow="ellipsis").join(texts)

    def _end_display(self) -> None:
        if self.live:
            self.live.stop()
            self.live = None
        if self.stdout is not None:
            os.dup2(self.stdout, 1)
            os.close(self.stdout)
            self.stdout = None

    def close(self) -> None:
        """End the display and print the plan of a dry run, or the summary of a run."""
        if not self.closed:
            self.closed = True
            self._end_display()
            self._say(self._last_lines())
        super().close()

    def _last_lines(self) -> list[str]:
        progress = self.progress
        if self.dry and progress.planned:
            return run_lines.plan_lines(progress, self.left_out)
        if self.nothing_to_do:
            return [*run_lines.left_out_lines(self.left_out), *(f"To read: {page}" for page in self._pages())]
        lines = run_lines.summary_lines(progress, self._pages(), time.time()) if progress.began else []
        return [*lines, *self.failed_cells]

    def _pages(self) -> list[str]:
        """Return the requested pages that exist; of a run with failures, those that it made."""
        pages = [page for page in self.requested_pages() if Path(page).is_file()]
        return [page for page in pages if not self.progress.failed or page in self.progress.pages]


def link(job: StartedJob) -> str:
    """Return the style of a line that links to a job's log, for terminals that follow links."""
    return f"link {Path(job.logs[0]).absolute().as_uri()}" if job.logs else ""


def display_of(workflow: Any) -> LogHandler | None:
    """Return the display of a run; None if Snakemake was started without it."""
    handlers = workflow.logger_manager.get_log_handlers()
    return next((handler for handler in handlers if isinstance(handler, LogHandler)), None)
