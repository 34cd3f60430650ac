"""Jobs of a run, listed before anything runs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi
from snakemake.io import is_callable
from snakemake.settings import types

from pubmill.errors import PubmillError
from pubmill.planning.plan import Job
from pubmill.workflow.causes import NOT_MADE, cause_of, choice_of, with_grid_causes
from pubmill.workflow.snakemake_speed import without_collection


def jobs_of(root: Path, config: Mapping[str, Any], targets: Sequence[str] = ()) -> list[Job]:
    """Return all jobs behind the targets, including finished ones; without targets, those of the whole study.
    `config` overrides config.yaml. Raise a `PubmillError` with Snakemake's message if the graph cannot be
    built."""
    try:
        with without_collection(), SnakemakeApi(types.OutputSettings(quiet={types.Quietness.ALL})) as api:
            workflow = api.workflow(
                resource_settings=types.ResourceSettings(cores=1),
                config_settings=types.ConfigSettings(config=config),
                snakefile=root / "Snakefile",
            )
            settings = types.DAGSettings(targets=set(targets), force_incomplete=True)
            dag = workflow.dag(dag_settings=settings)
            return _listed_jobs(dag.workflow_api._workflow, dag.dag_settings)
    except SystemExit as error:
        raise PubmillError(str(error.code).removeprefix("pubmill: error: ")) from None
    except Exception as error:
        raise PubmillError(str(error)) from None


def _listed_jobs(workflow: Any, settings: types.DAGSettings) -> list[Job]:
    """Return the jobs of a workflow. Its graph is built only for jobs that have outputs on disk.
    Snakemake's only public way to the graph is a dry run, which takes twice as long because it formats the
    message of every job. Its private methods are safe to use here because its version is pinned."""
    workflow.dag_settings = settings
    workflow.execution_settings = types.ExecutionSettings(lock=False)
    workflow.scheduling_settings = types.SchedulingSettings()
    workflow.remote_execution_settings = types.RemoteExecutionSettings()
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
    made_again = {str(file) for job in dag.jobs if dag.needrun(job) for file in job.output}
    listed = [*jobs_in(dag), *(unmade.listed(made_again) if unmade else ())]
    return with_grid_causes(listed, _chosen(dag))


def _chosen(dag: Any) -> set[tuple[str, ...]]:
    """Return the protocol, dataset and setting of each choice of hyper-parameters that is made."""
    choices = [job for job in dag.jobs if job.rule.name in ("choose", "choose_for_model")]
    made = (job for job in choices if all(Path(one).is_file() for one in job.output))
    return {choice_of(job.wildcards_dict) for job in made}


def jobs_in(dag: Any) -> Iterator[Job]:
    """Yield the jobs of Snakemake's graph."""
    for job in dag.jobs:
        if job.rule.name != "all":
            wildcards, to_do = dict(job.wildcards_dict), dag.needrun(job)
            cause = cause_of(dag.reason(job), wildcards) if to_do else ""
            yield Job(job.rule.name, wildcards, to_do, cause, job.rule.name in dag.workflow._localrules)


@dataclass
class UnmadeJobs:
    """Jobs behind a graph's targets that have no output yet: they must run, and Snakemake has nothing to
    compare. `made`: files of jobs with an output that these jobs, or the targets, need."""

    jobs: dict[tuple[str, ...], Job] = field(default_factory=dict)
    needs: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    """The files of other jobs that each job reads."""
    made: set[str] = field(default_factory=set)

    def listed(self, made_again: Collection[str]) -> Iterator[Job]:
        """Yield the jobs, with the cause that they are not made, unless they follow from others.
        `made_again`: files of jobs that had been made and will run again."""
        for key, job in self.jobs.items():
            follows = any(file in made_again or file not in self.made for file in self.needs[key])
            yield Job(job.rule, job.wildcards, True, "" if follows else NOT_MADE, job.local)


def unmade_jobs(dag: Any) -> UnmadeJobs | None:
    """Return the jobs without output behind the targets, found from the rules before the graph is built.
    Return None if Snakemake must build the whole graph: if several rules make a file, so that Snakemake
    chooses; if no rule makes a missing file, so that it reports an error; or if a job with an output depends
    on a job without, and may run again."""
    unmade, seen, producers = UnmadeJobs(), set[str](), cache(dag.output_index.match_producers)
    waiting = [*map(str, dag.targetfiles)]
    for rule in dag.targetrules:
        waiting += reversed(input_files(rule, {}))
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        rules = producers(file)
        if len(rules) > 1 or not (rules or Path(file).exists()):
            return None
        for rule in rules:
            wildcards = rule.get_wildcards(file)
            key = (rule.name, *wildcards.values())
            if key in unmade.jobs:  # for another of its files
                continue
            if any(Path(output.apply_wildcards(wildcards)).exists() for output in rule.output):
                unmade.made.add(file)
            else:
                files = input_files(rule, wildcards)
                local = rule.name in dag.workflow._localrules
                unmade.jobs[key] = Job(rule.name, wildcards, True, NOT_MADE, local)
                unmade.needs[key] = [one for one in files if producers(one)]
                waiting += reversed(files)  # so that they are walked in their order
    return None if _behind(unmade, producers) else unmade


def _behind(unmade: UnmadeJobs, producers: Any) -> bool:
    """Return whether a file in `made` depends, or may depend, on one of the jobs without output."""
    waiting, seen = [*unmade.made], set[tuple[str, ...]]()
    while waiting:
        file = waiting.pop()
        rules = producers(file)
        for rule in rules:
            wildcards = rule.get_wildcards(file)
            key = (rule.name, *wildcards.values())
            if key in unmade.jobs or len(rules) > 1:
                return True
            if key not in seen:
                seen.add(key)
                waiting += input_files(rule, wildcards)
    return False


def input_files(rule: Any, wildcards: dict[str, str]) -> list[str]:
    """Return the files that a job of a rule reads; an input function may return them by names."""
    files: list[str] = []
    for item in rule.input:
        if is_callable(item):
            returned, _ = rule.apply_input_function(item, wildcards)
        else:
            returned = item.apply_wildcards(wildcards)
        files += _texts(list(returned.values()) if isinstance(returned, dict) else returned)
    return files


def _texts(nested: Any) -> Iterator[str]:
    if isinstance(nested, str):
        yield nested
    else:
        for one in nested:
            yield from _texts(one)
