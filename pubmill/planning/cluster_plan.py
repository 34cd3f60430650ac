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
from pubmill.stages.gpus import Gpus
from pubmill.stages.stage import Needs, stages

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


def read_profile(name: str) -> dict[str, Any]:
    """Return the settings of a profile, a folder or the name of one of profiles/."""
    files = (folder / "config.yaml" for folder in (Path(name), root() / name, root() / PROFILES / name))
    path = next(filter(Path.is_file, files), None)
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
    is_local = LOCAL_RULES.search((root() / "Snakefile").read_text(encoding="utf-8"))
    local_rules = is_local[1].replace(",", " ").split() if is_local else []
    to_do = [job for job in jobs if job.to_do]
    pairs = (str(one).partition("=") for one in profile.get("default-resources", []))
    defaults = {name: value for name, _, value in pairs if name not in ("mem_mb", "runtime")}
    found = []
    for rule in stages():
        if not (of_rule := [job for job in to_do if job.rule == rule]):
            continue
        settings = {**defaults, **profile.get("set-resources", {}).get(rule, {})}
        stage, needs = graph.stage(stages()[rule]), list[Needs]()
        for job in of_rule:
            own = stage.needs_of(job.named_wildcards, gpus)
            minutes = settings.get("runtime", stage.requested_minutes(own.minutes))
            needs.append(Needs(int(settings.get("mem_mb", own.memory)), int(minutes)))
        is_here = rule in local_rules or not profile.get("executor")
        place = HERE if is_here else str(settings.get("slurm_partition", ""))
        most = (max(values) for values in zip(*needs, strict=True))
        found.append(ClusterRequest(rule, len(needs), place, int(settings.get("gpu", 0)), *most))
    return found


def requests_table(asked: Iterable[ClusterRequest]) -> Table:
    """Return the requests as a table."""
    made = table("rule", "jobs", "partition", "GPUs", "memory, GB", "time, h", numbers=(1, 3, 4, 5))
    for one in asked:
        hours, memory = f"{one.minutes / 60:,.1f}", f"{one.memory / 1000:,.1f}"
        made.add_row(one.rule, f"{one.jobs:,}", one.partition, str(one.gpus or ""), memory, hours)
    return made
