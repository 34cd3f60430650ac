"""Jobs of a run, listed before anything runs."""

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
from pubmill.planning.plan import Job
from pubmill.workflow.causes import cause_of, choice_of, with_grid_causes
from pubmill.workflow.snakemake_speed import without_collection
from pubmill.workflow.unmade_jobs import UnmadeJobs, unmade_jobs

CHOICES = ("choose", "choose_for_model")


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
            return _listed_jobs(dag.workflow_api._workflow, dag.dag_settings)
    except SystemExit as error:
        raise PubmillError(str(error.code).removeprefix("pubmill: error: ")) from None
    except Exception as error:
        raise PubmillError(str(error)) from None


def _listed_jobs(workflow: Any, settings: DAGSettings) -> list[Job]:
    """Return the jobs of a workflow; of its graph, only the part of which something is made is built.

    Snakemake's only public way to the graph is a dry run, which takes twice as long because it formats the
    message of every job. Its private methods are safe to use here because its version is pinned.
    """
    workflow.dag_settings = settings
    workflow.execution_settings = ExecutionSettings(lock=False)
    workflow.scheduling_settings = SchedulingSettings()
    workflow.remote_execution_settings = RemoteExecutionSettings()
    workflow._prepare_dag(forceall=False, ignore_incomplete=False, lock_warn_only=True, nolock=True)
    dag, build = workflow.dag, workflow.dag.init
    unmade: UnmadeJobs | None = None

    async def build_what_is_made() -> None:
        nonlocal unmade
        unmade = unmade_jobs(dag)
        if unmade:
            dag.targetfiles, dag.targetrules = unmade.made, set()
        if not unmade or unmade.made:
            await build()

    dag.init = build_what_is_made
    workflow._build_dag()  # which checks the request first
    listed = [*jobs_in(dag), *(unmade.listed(_made_again(dag)) if unmade else ())]
    return with_grid_causes(listed, _chosen(dag))


def _made_again(dag: Any) -> set[str]:
    """Return the files of the graph's jobs that will run."""
    return {str(file) for job in dag.jobs if dag.needrun(job) for file in job.output}


def _chosen(dag: Any) -> set[tuple[str, ...]]:
    """Return the protocol, dataset and setting of each choice of hyper-parameters that is made."""
    choices = [job for job in dag.jobs if job.rule.name in CHOICES]
    return {
        choice_of(job.wildcards_dict) for job in choices if all(Path(one).is_file() for one in job.output)
    }


def jobs_in(dag: Any) -> Iterator[Job]:
    """Yield the jobs of Snakemake's graph."""
    for job in dag.jobs:
        if job.rule.name != "all":
            wildcards, to_do = dict(job.wildcards_dict), dag.needrun(job)
            cause = cause_of(dag.reason(job), wildcards) if to_do else ""
            yield Job(job.rule.name, wildcards, to_do, cause, job.rule.name in dag.workflow._localrules)
