"""Causes of jobs: what changed since their outputs were made, in words of specs."""

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pubmill.messages.wording import counted
from pubmill.planning.plan import Job
from pubmill.storage.names_in_paths import table_of

NOT_MADE = "not made yet"
INTERRUPTED = "an earlier run was interrupted"
OTHER_INPUTS = "reads other files than before"
OTHER_SOFTWARE = "other environment of software"
SPECS = {
    "protocol": "protocols",
    "recipe": "pretraining",
    "vocab": "vocabs",
    "corpus": "corpora",
    "dataset": "datasets",
    "results_table": "tables",
    "fact_table": "tables",
    "model": "models",
}
"""Wildcard -> folder of specs; the first that a job has is the spec that its recipe comes from."""
VERSION = "the stage's version"
FILES_SHOWN = 2
ABSENT = "none"
LONGEST = 40
"""Characters of a value that are shown."""


def cause_of(reason: Any, wildcards: Mapping[str, str]) -> str:
    """Return why a job runs, from Snakemake's `reason`; empty if it runs only because another job does."""
    if changed := reason.params_changed:
        lines = differences(changed.only_old, changed.only_new)
        of_spec = any(not one.startswith(VERSION) for one in lines)
        return f"{spec_of(wildcards) if of_spec else 'the program'}: {'; '.join(lines)}"
    if reason.updated_input:
        files = sorted(map(str, reason.updated_input))
        more = f" and {len(files) - FILES_SHOWN} more" if len(files) > FILES_SHOWN else ""
        return f"newer: {', '.join(files[:FILES_SHOWN])}{more}"
    if reason.input_changed:
        return OTHER_INPUTS
    if reason.software_stack_changed:
        return OTHER_SOFTWARE
    if reason.forced:
        return INTERRUPTED
    return NOT_MADE if reason.missing_output and not reason.updated_input_run else ""


def spec_of(wildcards: Mapping[str, str]) -> str:
    """Return the spec that determines a job's recipe."""
    for name, of in SPECS.items():
        if name in wildcards:
            spec = table_of(wildcards[name]) if of == "tables" else wildcards[name]
            return f"specs/{of}/{spec}.yaml"
    return "the study"


def differences(old: Iterable[str], new: Iterable[str]) -> list[str]:
    """Return what differs between the parameters of a job before and now: `warmup 0.1 -> 0.2`."""
    before, now = _values(old), _values(new)
    changed = [key for key in sorted(before.keys() | now.keys()) if before.get(key) != now.get(key)]
    return [f"{key} {_shown(before, key)} -> {_shown(now, key)}" for key in changed]


def _values(parameters: Iterable[str]) -> dict[str, object]:
    """Return the values in parameters: those of recipes by their keys, a stage's version, and all others."""
    values: dict[str, object] = {}
    for text in sorted(parameters):
        value = _value(text)
        if isinstance(value, dict):
            values |= _flat(value)
        else:
            numbers = value if isinstance(value, list) else [value]
            name = VERSION if all(isinstance(number, int) for number in numbers) else "parameter"
            values[name if name not in values else f"{name} {text}"] = value
    return values


def _value(text: str) -> Any:
    """Return a parameter from Snakemake's records, which are Python literals; a recipe is JSON in a text."""
    try:
        value = ast.literal_eval(text)
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError):
        return text


def _flat(value: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Return the leaves of a recipe by their keys, joined by dots."""
    leaves: dict[str, object] = {}
    for key, one in value.items():
        leaves |= _flat(one, f"{prefix}{key}.") if isinstance(one, dict) else {f"{prefix}{key}": one}
    return leaves


def _shown(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    text = json.dumps(value, ensure_ascii=False) if key in values else ABSENT
    if len(text) <= LONGEST:
        return text
    return counted(len(value), "value") if isinstance(value, list) else f"{text[: LONGEST - 3]}..."


def with_grid_causes(jobs: Sequence[Job], chosen: Collection[tuple[str, ...]]) -> list[Job]:
    """Return the jobs; if a choice is made, the cause of its missing trials names the new values of the grid.
    `chosen`: (protocol, dataset, setting) of each choice that is made."""
    trials = [job for job in jobs if job.rule == "trial" and choice_of(job.wildcards) in chosen]
    tried = {(choice_of(job.wildcards), value) for job in trials if not job.to_do for value in _point(job)}
    causes = {}
    for job in trials:
        new = [value for value in _point(job) if (choice_of(job.wildcards), value) not in tried]
        if job.cause == NOT_MADE and new:
            causes[id(job)] = f"{spec_of(job.wildcards)}: new in the grid: {', '.join(new)}"
    return [replace(job, cause=causes.get(id(job), job.cause)) for job in jobs]


def choice_of(wildcards: Mapping[str, str]) -> tuple[str, ...]:
    """Return the protocol, dataset and setting of a trial or a choice."""
    return wildcards["protocol"], wildcards["dataset"], wildcards["setting"]


def _point(trial: Job) -> list[str]:
    """Return the values of a trial by its name, `learning_rate=1e-05+batch_size=16`."""
    return re.split(r"\+(?=[a-z_]+=)", trial.wildcards["trial"])


def cause_lines(jobs: Iterable[Job]) -> Iterator[str]:
    """Yield one line for each cause, that of most jobs first, with its jobs; then those that follow."""
    by_cause: dict[str, Counter[str]] = {}
    for job in jobs:
        if job.to_do:
            by_cause.setdefault(job.cause, Counter())[job.rule] += 1
    following = by_cause.pop("", Counter())
    for cause, rules in sorted(by_cause.items(), key=lambda one: (-one[1].total(), one[0])):
        yield f"{cause}: {_jobs_by_rule(rules)}"
    if following:
        yield f"and what follows from these: {_jobs_by_rule(following)}"


def _jobs_by_rule(rules: Counter[str]) -> str:
    return ", ".join(counted(number, rule) for rule, number in rules.most_common())
