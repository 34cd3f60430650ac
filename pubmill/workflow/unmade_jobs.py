"""Jobs behind targets that nothing was made for yet: a walk over Snakemake's rules in place of its graph.

Without results every job has to run, and there is nothing that Snakemake would compare.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from snakemake.io import is_callable

from pubmill.planning.job import Job
from pubmill.workflow.causes import NOT_MADE


def unmade_jobs(dag: Any) -> list[Job] | None:
    """Return the jobs behind the targets of a graph that is not built; None if Snakemake has to build it.

    It has to if a file that a job makes exists, if several rules make a file, or if a file is missing that
    none makes: it chooses, and reports errors.
    """
    found: dict[tuple[str, ...], Job] = {}
    seen: set[str] = set()
    waiting = [*map(str, dag.targetfiles)]
    for rule in dag.targetrules:
        waiting += reversed(input_files(rule, {}))
    producers = cache(dag.output_index.match_producers)
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        rules = producers(file)
        if len(rules) > 1 or bool(rules) is Path(file).exists():
            return None
        for rule in rules:
            wildcards = rule.get_wildcards(file)
            key = (rule.name, *wildcards.values())
            if key not in found:
                files = input_files(rule, wildcards)
                follows = any(map(producers, files))
                local = rule.name in dag.workflow._localrules
                found[key] = Job(rule.name, wildcards, True, "" if follows else NOT_MADE, local)
                waiting += reversed(files)  # so that they are walked in their order
    return list(found.values())


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
