"""Events of a run as Snakemake 9 logs them: a message, and the fields of its `extra`."""

import logging
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent


def record(
    message: str | None, *, level: int = logging.INFO, at: float = 0.0, **fields: Any
) -> logging.LogRecord:
    """A log record with these fields, created `at` a time."""
    made = logging.makeLogRecord({"msg": message, "levelno": level, "levelname": "", **fields})
    made.created = 1000.0 + at
    return made


def plan(**rules: int) -> logging.LogRecord:
    """The counts of jobs, which include the target rule and a total."""
    stats = {**rules, "all": 1, "total": sum(rules.values()) + 1}
    return record("Job stats:", event=LogEvent.RUN_INFO, stats=stats)


def start(
    number: int, rule: str, text: str = "", log: str = "", output: tuple[str, ...] = (), at: float = 0.0
) -> logging.LogRecord:
    """A job that starts."""
    fields: dict[str, Any] = {
        "rule_name": rule,
        "rule_msg": text or None,
        "log": [log] if log else [],
        "output": list(output),
    }
    return record(f"Rule: {rule}", event=LogEvent.JOB_INFO, jobid=number, at=at, **fields)


def finish(number: int, at: float) -> logging.LogRecord:
    """A job that ends well."""
    return record(f"Finished jobid: {number}", event=LogEvent.JOB_FINISHED, job_id=number, at=at)


def fail(number: int, log: str, at: float = 0.0) -> logging.LogRecord:
    """A job that fails."""
    fields: dict[str, Any] = {"rule_msg": None, "log": [log], "output": [], "shellcmd": "false"}
    return record("Error", level=logging.ERROR, event=LogEvent.JOB_ERROR, jobid=number, at=at, **fields)
