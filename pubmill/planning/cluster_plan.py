"""Requests of a study to a cluster, by rule: the jobs of a plan under the settings of a profile."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from pubmill.errors import PubmillError
from pubmill.messages.installation import root
from pubmill.messages.terminal_tables import table
from pubmill.planning.plan import Job
from pubmill.specs import strict_yaml
from pubmill.stages import Graph
from pubmill.stages.all_stages import stages
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import Needs

PROFILES = "profiles"
HERE = "local"
LOCAL_RULES = re.compile(r"^localrules:\n((?:    \w+,\n)+)", re.MULTILINE)
"""In the Snakefile."""


class ClusterRequest(NamedTuple):
    """The jobs of a cluster for a rule: their number, partition, GPUs each, and the most memory (MB) and
    minutes of one."""

    rule: str
    jobs: int
    partition: str
    gpus: int
    memory: int
    minutes: int


def config_of_profile(name: str) -> Path | None:
    """Return the file of a profile, if it is a folder or the name of one of profiles/."""
    files = (folder / "config.yaml" for folder in (Path(name), root() / name, root() / PROFILES / name))
    return next(filter(Path.is_file, files), None)


def read_profile(name: str) -> dict[str, Any]:
    """Return the settings of a profile, a folder or the name of one of profiles/."""
    path = config_of_profile(name)
    if path is None:
        known = ", ".join(sorted(one.parent.name for one in (root() / PROFILES).glob("*/config.yaml")))
        raise PubmillError(f"no profile {name}: expected a folder with config.yaml, or one of {known}")
    errors: list[str] = []
    settings: dict[str, Any] = strict_yaml.read(path, str(path), errors).value
    if errors:
        raise PubmillError("\n".join(errors))
    return settings


def requests(
    jobs: Iterable[Job], graph: Graph, gpus: Gpus, profile: Mapping[str, Any]
) -> list[ClusterRequest]:
    """Return what the jobs that still have to run request, by rule in the order of the stages."""
    to_do: dict[str, list[Job]] = {rule: [] for rule in stages()}
    for job in jobs:
        if job.to_do and job.rule in to_do:
            to_do[job.rule].append(job)
    return [_request(rule, of_rule, graph, gpus, profile) for rule, of_rule in to_do.items() if of_rule]


def _request(
    rule: str, jobs: list[Job], graph: Graph, gpus: Gpus, profile: Mapping[str, Any]
) -> ClusterRequest:
    settings = _settings(rule, profile)
    is_here = rule in local_rules() or not profile.get("executor")
    place = HERE if is_here else str(settings.get("slurm_partition", ""))
    needs = [_needs(job, graph, gpus, profile) for job in jobs]
    memory, minutes = (max(values) for values in zip(*needs, strict=True))
    return ClusterRequest(rule, len(jobs), place, int(settings.get("gpu", 0)), memory, minutes)


def local_rules() -> list[str]:
    """Return the rules whose jobs always run where Snakemake runs."""
    found = LOCAL_RULES.search((root() / "Snakefile").read_text(encoding="utf-8"))
    return found[1].replace(",", " ").split() if found else []


def _needs(job: Job, graph: Graph, gpus: Gpus, profile: Mapping[str, Any]) -> Needs:
    stage, settings = graph.stage(stages()[job.rule]), _settings(job.rule, profile)
    needs = stage.needs_of(job.named_wildcards, gpus)
    minutes = settings.get("runtime", stage.requested_minutes(needs.minutes))
    return Needs(int(settings.get("mem_mb", needs.memory)), int(minutes))


def _settings(rule: str, profile: Mapping[str, Any]) -> dict[str, str | int]:
    """Return the resources that a profile sets for a rule, and its defaults, but for memory and time."""
    pairs = (str(one).partition("=") for one in profile.get("default-resources", []))
    defaults = {name: value for name, _, value in pairs if name not in ("mem_mb", "runtime")}
    return {**defaults, **profile.get("set-resources", {}).get(rule, {})}


def requests_table(asked: Iterable[ClusterRequest]) -> Table:
    """Return the requests as a table."""
    made = table("rule", "jobs", "partition", "GPUs", "memory, GB", "time, h", numbers=(1, 3, 4, 5))
    for one in asked:
        hours, memory = f"{one.minutes / 60:,.1f}", f"{one.memory / 1000:,.1f}"
        made.add_row(one.rule, f"{one.jobs:,}", one.partition, str(one.gpus or ""), memory, hours)
    return made
