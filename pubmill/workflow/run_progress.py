"""State of a run, built from the events that Snakemake logs."""

from collections import Counter
from dataclasses import dataclass
from logging import LogRecord
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

from pubmill.messages.stage_groups import GROUPS, OTHER, TARGET
from pubmill.stages.all_stages import group_of
from pubmill.workflow.job_logs import slower_methods

PAGE = ".html"
TOTAL = "total"
"""Key of Snakemake's counts by rule that is no rule."""


@dataclass(frozen=True)
class StartedJob:
    """A job that was started. `text`: what it does; `logs`: paths; `started`: seconds since the epoch."""

    rule: str
    text: str
    logs: tuple[str, ...]
    pages: tuple[str, ...]
    started: float


class RunProgress:
    """Jobs of a run by rule: how many are planned, which run, which failed, how long the finished ones took.
    `slower`: messages on methods of a GPU that did not work -> jobs. A failed job that is started again is no
    longer among the failed ones."""

    def __init__(self) -> None:
        self.planned: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.running: dict[int, StartedJob] = {}
        self.failed: dict[int, StartedJob] = {}
        self.pages: list[str] = []
        self.slower: Counter[str] = Counter()
        self.began: float | None = None

    def add(self, record: LogRecord) -> StartedJob | None:
        """Take in an event; return the job that it reports as finished or failed, if any."""
        event: Any = record
        match getattr(record, "event", None):
            case LogEvent.RUN_INFO:
                self.planned = Counter(
                    {rule: n for rule, n in event.stats.items() if rule not in (TARGET, TOTAL)}
                )
            case LogEvent.JOB_INFO:
                self._start(event)
            case LogEvent.JOB_FINISHED:
                return self._finish(event.job_id, record.created)
            case LogEvent.JOB_ERROR:
                return self._fail(event)
        return None

    def _start(self, record: Any) -> None:
        self.began = self.began or record.created
        self.failed.pop(record.jobid, None)
        pages = tuple(path for path in record.output if path.endswith(PAGE))
        if record.rule_name != TARGET:
            text = record.rule_msg or record.rule_name
            self.running[record.jobid] = StartedJob(
                record.rule_name, text, tuple(record.log), pages, record.created
            )

    def _finish(self, number: int, now: float) -> StartedJob | None:
        job = self.running.pop(number, None)
        if job:
            self.done[job.rule] += 1
            self.seconds[job.rule] += now - job.started  # type: ignore[assignment]
            self.pages += job.pages
            self.slower.update(text for log in job.logs for text in slower_methods(log, job.started))
        return job

    def _fail(self, record: Any) -> StartedJob | None:
        job = self.running.pop(record.jobid, None)
        if job:
            # The logs of a cluster job include those of the cluster.
            self.failed[record.jobid] = StartedJob(job.rule, job.text, tuple(record.log), (), job.started)
        return self.failed.get(record.jobid) if job else None

    def stages(self) -> list[tuple[str, int, int, int]]:
        """Return (stage, done, planned, failed) for each stage with planned jobs."""
        planned, done = by_stage(self.planned), by_stage(self.done)
        failed = by_stage(Counter(job.rule for job in list(self.failed.values())))
        return [(name, done[name], planned[name], failed[name]) for name in (*GROUPS, OTHER) if planned[name]]

    def seconds_left(self, now: float) -> tuple[float | None, bool]:
        """Return the estimated time left, and whether rules without a finished job make it a lower bound.
        Each job is assumed to take the mean time of the finished jobs of its rule (not the plan's costs), and
        as many jobs to run at once as did so far. The time is None until a rule with jobs left has a mean."""
        running = list(self.running.values())
        failed = Counter(job.rule for job in list(self.failed.values()))
        left, known, complete = 0.0, False, True
        for rule, planned in self.planned.items():
            spent = [now - job.started for job in running if job.rule == rule]
            waiting = planned - self.done[rule] - failed[rule] - len(spent)
            if not self.done[rule]:
                complete = complete and waiting + len(spent) == 0
                continue
            mean = self.seconds[rule] / self.done[rule]
            left += max(waiting, 0) * mean + sum(max(mean - each, 0) for each in spent)
            known = known or waiting + len(spent) > 0
        busy = sum(self.seconds.values()) + sum(now - job.started for job in running)
        at_once = max(1.0, busy / (now - self.began)) if self.began and now > self.began else 1.0
        return (left / at_once if known else None), not complete


def by_stage(by_rule: Counter[str]) -> Counter[str]:
    """Return counts of rules summed by stage."""
    counts: Counter[str] = Counter()
    for rule, count in by_rule.items():
        counts[group_of(rule)] += count
    return counts
