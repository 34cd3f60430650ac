"""Jobs of Snakemake's graph."""

from types import SimpleNamespace
from typing import Any

from snakemake.jobs import Reason

from pubmill.planning.job import Job
from pubmill.workflow.causes import NOT_MADE
from pubmill.workflow.jobs import jobs_in


def job(rule: str, **wildcards: str) -> Any:
    return SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards_dict=wildcards)


def test_all_jobs_but_the_target_rule_are_listed_with_their_wildcards() -> None:
    jobs = [job("all"), job("score", seed="1"), job("table")]
    reason = Reason()
    reason.missing_output.add("a.json")
    workflow = SimpleNamespace(_localrules={"table"})
    dag = SimpleNamespace(
        jobs=jobs, needrun=lambda one: one is jobs[1], reason=lambda one: reason, workflow=workflow
    )
    assert list(jobs_in(dag)) == [
        Job("score", {"seed": "1"}, True, NOT_MADE),
        Job("table", {}, False, local=True),
    ]
