"""Jobs of a run, listed before anything runs: Snakemake's own graph is built but not executed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    ExecutionSettings,
    OutputSettings,
    Quietness,
    RemoteExecutionSettings,
    ResourceSettings,
    SchedulingSettings,
)

from pubmill.errors import PubmillError
from pubmill.planning.job import Job
from pubmill.workflow.causes import cause_of
from pubmill.workflow.snakemake_speed import without_collection


def jobs_of(root: Path, config: Mapping[str, Any], targets: Sequence[str] = ()) -> list[Job]:
    """Return all jobs behind the targets, including finished ones; without targets, those of the whole study.

    `config` overrides config.yaml. Raise a `PubmillError` with Snakemake's message if the graph cannot be
    built.
    """
    try:
        with without_collection(), SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            workflow = api.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(config=config),
                snakefile=root / "Snakefile",
            )
            settings = DAGSettings(targets=set(targets), force_incomplete=True)
            dag = workflow.dag(dag_settings=settings)
            return list(_built_jobs(dag.workflow_api._workflow, dag.dag_settings))
    except SystemExit as error:
        raise PubmillError(str(error.code).removeprefix("pubmill: error: ")) from None
    except Exception as error:
        raise PubmillError(str(error)) from None


def _built_jobs(workflow: Any, settings: DAGSettings) -> Iterator[Job]:
    """Build the graph of a workflow and yield its jobs.

    Snakemake's only public way to the graph is a dry run, which takes twice as long because it formats the
    message of every job. Its private methods are safe to use here because its version is pinned.
    """
    workflow.dag_settings = settings
    workflow.execution_settings = ExecutionSettings(lock=False)
    workflow.scheduling_settings = SchedulingSettings()
    workflow.remote_execution_settings = RemoteExecutionSettings()
    workflow._prepare_dag(forceall=False, ignore_incomplete=False, lock_warn_only=True, nolock=True)
    workflow._build_dag()
    yield from jobs_in(workflow.dag)


def jobs_in(dag: Any) -> Iterator[Job]:
    """Yield the jobs of Snakemake's graph."""
    for job in dag.jobs:
        if job.rule.name != "all":
            wildcards, to_do = dict(job.wildcards_dict), dag.needrun(job)
            cause = cause_of(dag.reason(job), wildcards) if to_do else ""
            yield Job(job.rule.name, wildcards, to_do, cause, job.rule.name in dag.workflow._localrules)
