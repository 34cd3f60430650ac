"""Jobs that nothing was made for yet, found by a walk over Snakemake's rules in place of its graph.

Such a job has to run, and there is nothing that Snakemake would compare. Its graph is needed only for what
is made already and for what that was made from.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from snakemake.io import is_callable

from pubmill.planning.plan import Job
from pubmill.workflow.causes import NOT_MADE


@dataclass
class UnmadeJobs:
    """The jobs without any output behind a graph's targets. `made`: the files that they, or the targets, need
    of jobs with an output."""

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
    """Walk from the targets of a graph that is not built; None if Snakemake has to build all of it.

    It has to if several rules make a file, or if a file is missing that none makes: it chooses, and reports
    errors. It also has to if something that was made is behind a job that was not: that may run again.
    """
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
    """Return whether one of the jobs is behind a file that was made, or may be."""
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
