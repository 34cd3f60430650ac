"""The jobs of a run, before anything runs: Snakemake's own graph, built and not executed."""

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


def jobs_of(root: Path, config: Mapping[str, Any], targets: Sequence[str] = ()) -> list[Job]:
    """All jobs behind the targets (none: the study's own), those that nothing is to be done for among them.

    `config` is laid over config.yaml. A `PubmillError` says what hinders the run, as Snakemake would.
    """
    try:
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            workflow = api.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(config=config),
                snakefile=root / "Snakefile",
            )
            dag = workflow.dag(dag_settings=DAGSettings(targets=set(targets)))
            return list(_built(dag.workflow_api._workflow, dag.dag_settings))
    except SystemExit as error:
        raise PubmillError(str(error.code).removeprefix("pubmill: error: ")) from None
    except Exception as error:
        raise PubmillError(str(error)) from None


def _built(workflow: Any, settings: DAGSettings) -> Iterator[Job]:
    """The graph of a workflow. Snakemake has no public way to it but a dry run, which takes twice as long, as
    it words every job; its version is pinned."""
    workflow.dag_settings = settings
    workflow.execution_settings = ExecutionSettings(lock=False)
    workflow.scheduling_settings = SchedulingSettings()
    workflow.remote_execution_settings = RemoteExecutionSettings()
    workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True, nolock=True)
    workflow._build_dag()
    yield from jobs_in(workflow.dag)


def jobs_in(dag: Any) -> Iterator[Job]:
    """The jobs of Snakemake's graph."""
    for job in dag.jobs:
        if job.rule.name != "all":
            yield Job(job.rule.name, dict(job.wildcards_dict), dag.needrun(job))
