"""What a study requests from a cluster, by rule: the jobs of a plan under the settings of a profile."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from pubmill.errors import PubmillError
from pubmill.planning.job import Job
from pubmill.planning.terminal_tables import table
from pubmill.specs import strict_yaml
from pubmill.stages import Graph
from pubmill.stages.all_stages import stages
from pubmill.stages.gpus import Gpus

PROFILES = Path("profiles")
HERE = "local"


class ClusterRequest(NamedTuple):
    """The jobs of the cluster for a rule: their number, partition, GPUs each, and the most memory (MB) and
    minutes of one. A bundle counts as one job."""

    rule: str
    jobs: int
    partition: str
    gpus: int
    memory: int
    minutes: int


def config_of_profile(name: str) -> Path | None:
    """Return the file of a profile, if it is a folder or the name of one of profiles/."""
    files = (folder / "config.yaml" for folder in (Path(name), PROFILES / name))
    return next(filter(Path.is_file, files), None)


def read_profile(name: str) -> dict[str, Any]:
    """Return the settings of a profile, a folder or the name of one of profiles/."""
    path = config_of_profile(name)
    if path is None:
        known = ", ".join(sorted(one.parent.name for one in PROFILES.glob("*/config.yaml")))
        raise PubmillError(f"no profile {name}: expected a folder with config.yaml, or one of {known}")
    errors: list[str] = []
    found: dict[str, Any] = strict_yaml.read(path, str(path), errors).value
    if errors:
        raise PubmillError("\n".join(errors))
    return found


def requests(
    jobs: Iterable[Job], graph: Graph, gpus: Gpus, profile: Mapping[str, Any]
) -> list[ClusterRequest]:
    """Return what the jobs that still have to run request, by rule in the order of the stages."""
    by_rule: dict[str, list[Job]] = {}
    for job in jobs:
        if job.to_do:
            by_rule.setdefault(job.rule, []).append(job)
    order = [rule for rule in stages() if rule in by_rule]
    return [_request(rule, by_rule[rule], graph, gpus, profile) for rule in order]


def _request(
    rule: str, jobs: list[Job], graph: Graph, gpus: Gpus, profile: Mapping[str, Any]
) -> ClusterRequest:
    stage = graph.stage(stages()[rule])
    needs = [stage.needs_of(job.named_wildcards, gpus) for job in jobs]
    settings = _defaults(profile) | profile.get("set-resources", {}).get(rule, {})
    is_here = jobs[0].local or not profile.get("executor")
    place = HERE if is_here else str(settings.get("slurm_partition", ""))
    memory = int(settings.get("mem_mb", max(one.memory for one in needs)))
    bundles: dict[str, int] = {}
    for number, (job, one) in enumerate(zip(jobs, needs, strict=True)):
        bundle = None if is_here else stage.bundle_of(job.named_wildcards, gpus)
        name = bundle or str(number)
        bundles[name] = bundles.get(name, 0) + int(settings.get("runtime", one.minutes))
    minutes = max(bundles.values())
    return ClusterRequest(rule, len(bundles), place, int(settings.get("gpu", 0)), memory, minutes)


def _defaults(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return `default-resources`, which a profile lists as `name=value`, but for memory and time."""
    pairs = (str(one).partition("=") for one in profile.get("default-resources", []))
    return {name: value for name, _, value in pairs if name not in ("mem_mb", "runtime")}


def requests_table(found: Iterable[ClusterRequest]) -> Table:
    """Return the requests as a table."""
    made = table("rule", "jobs", "partition", "GPUs", "memory, GB", "time, h")
    for one in found:
        hours, memory = f"{one.minutes / 60:,.1f}", f"{one.memory / 1000:,.1f}"
        made.add_row(one.rule, f"{one.jobs:,}", one.partition, str(one.gpus or ""), memory, hours)
    for column in (1, 3, 4, 5):
        made.columns[column].justify = "right"
    return made
