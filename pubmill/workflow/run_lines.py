"""Lines that describe a run: its stages, its running jobs, its failures, its plan and its end."""

import textwrap
from collections.abc import Mapping, Sequence
from datetime import timedelta

from pubmill.messages.progress import SLOWER
from pubmill.messages.wording import counted
from pubmill.workflow.job_logs import latest, reason
from pubmill.workflow.run_progress import RunProgress, StartedJob

LEFT_OUT_SHOWN = 6
FAILURES_SHOWN = 20
TEXT_SHOWN = 60
WIDTH = 80
ALL_JOBS = "The command above lists every job with its reason{more}."


def duration(seconds: float) -> str:
    """Return a time as `1:02:03`."""
    return str(timedelta(seconds=round(seconds)))


def stage_lines(progress: RunProgress) -> list[str]:
    """Return one line for each stage: jobs done of those planned, and those that failed."""
    stages = progress.stages()
    wide = max((len(str(planned)) for _, _, planned, _ in stages), default=0)
    return [
        f"  {name:<11} {done:>{wide}}/{planned}" + (f"  {failed} failed" if failed else "")
        for name, done, planned, failed in stages
    ]


def job_line(job: StartedJob, now: float) -> str:
    """Return the line of a running job: its time, what it does, what its log reports, and its log."""
    news = [latest(log, job.started) for log in job.logs[:1]]
    parts = [duration(now - job.started), shortened(job.text), *news, *job.logs]
    return "  " + "  ".join(part for part in parts if part)


def shortened(text: str) -> str:
    """Return a text with its middle left out if it is long: the ends of addresses differ, and their hosts."""
    half = TEXT_SHOWN // 2
    return text if len(text) <= TEXT_SHOWN else f"{text[:half]}...{text[-half:]}"


def longest_running(progress: RunProgress) -> list[StartedJob]:
    """Return the running jobs, the one that began first in front."""
    return sorted(progress.running.values(), key=lambda job: job.started)


def status_line(progress: RunProgress, now: float) -> str:
    """Return the progress of the whole run and the estimated time left."""
    done, planned = progress.done.total(), progress.planned.total()
    share = f" ({done / planned:.0%})" if planned else ""
    failed = f", {len(progress.failed)} failed" if progress.failed else ""
    spent = f", {duration(now - progress.began)} so far" if progress.began else ""
    left, at_least = progress.seconds_left(now)
    time_left = f", {'more than' if at_least else 'about'} {duration(left)} left" if left is not None else ""
    return f"{done} of {planned} jobs{share}{failed}{spent}{time_left}"


def start_line(progress: RunProgress) -> str:
    """Return the number of jobs at the start of a run, by stage."""
    stages = ", ".join(f"{name} {planned}" for name, _, planned, _ in progress.stages())
    return f"{progress.planned.total()} jobs to run: {stages}"


def finished_line(job: StartedJob, progress: RunProgress, now: float) -> str:
    """Return the line of a job that has just finished."""
    count = f"[{progress.done.total()}/{progress.planned.total()}]"
    return f"{count} {duration(now - job.started)}  {job.text}"


def failed_line(job: StartedJob) -> str:
    """Return the line of a job that has just failed; the summary states the reason."""
    return "  ".join([f"failed: {job.text}", *job.logs])


def failure_lines(job: StartedJob) -> list[str]:
    """Return a failed job, the reason that its log gives (else that of its cluster job), and its logs."""
    reasons = filter(None, (reason(log, job.started) for log in job.logs))
    lines = next(reasons, ["its log says nothing; the job may have been killed"])
    return [
        f"failed: {job.text}",
        *(f"    {line}" for line in lines),
        *(f"    log: {log}" for log in job.logs),
    ]


def left_out_lines(lines: Sequence[str]) -> list[str]:
    """Return what the study leaves out, wrapped; beyond a few their number."""
    more = len(lines) - LEFT_OUT_SHOWN
    shown = lines if more <= 1 else [*lines[:LEFT_OUT_SHOWN], f"and {more} more left out"]
    # Addresses and paths stay whole.
    wrap = textwrap.TextWrapper(WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [part for line in shown for part in wrap.wrap(line)]


def plan_lines(progress: RunProgress, left_out: Sequence[str]) -> list[str]:
    """Return what a run would do, on one screen: jobs by stage, and what is left out."""
    stages = progress.stages()
    wide = max((len(str(planned)) for _, _, planned, _ in stages), default=0)
    more = " and all that is left out" if len(left_out) > LEFT_OUT_SHOWN + 1 else ""
    return [
        f"{progress.planned.total()} jobs would run:",
        *(f"  {name:<11} {planned:>{wide}}" for name, _, planned, _ in stages),
        *left_out_lines(left_out),
        ALL_JOBS.format(more=more),
    ]


def summary_lines(progress: RunProgress, pages: Sequence[str], now: float) -> list[str]:
    """Return the end of a run: what was made, what failed and why, what was not reached, the pages."""
    spent = f" in {duration(now - progress.began)}" if progress.began else ""
    done, planned = progress.done.total(), progress.planned.total()
    failed = list(progress.failed.values())
    not_run = planned - done - len(failed)
    ends = [f"{len(failed)} failed"] if failed else []
    ends += [f"{not_run} not run"] if not_run > 0 else []
    return [
        f"{done} of {planned} jobs done{spent}" + "".join(f", {end}" for end in ends) + ":",
        *stage_lines(progress),
        *(line for job in failed[:FAILURES_SHOWN] for line in failure_lines(job)),
        *([f"and {len(failed) - FAILURES_SHOWN} more that failed"] if len(failed) > FAILURES_SHOWN else []),
        *slower_lines(progress.slower),
        *(f"To read: {page}" for page in pages),
    ]


def slower_lines(slower: Mapping[str, int]) -> list[str]:
    """Return one line for each method of a GPU that did not work, with the number of its jobs."""
    return [f"{SLOWER}{counted(jobs, 'job')}: {text}" for text, jobs in slower.items()]
