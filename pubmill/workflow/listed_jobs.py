"""Cache of the jobs of a study, below Snakemake's folder; valid until a file that decides them changes."""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import snakemake

from pubmill.messages.installation import own_settings
from pubmill.planning.plan import Job
from pubmill.storage.files import read_json, write_json
from pubmill.storage.result_paths import paths_of_scale
from pubmill.workflow.jobs import jobs_of

STATE = Path(".snakemake")
FOLDER = STATE / "pubmill-jobs"
DECIDING = ("Snakefile", "config.yaml", "pubmill", "rules", "specs", "studies", "envs", "benchmarks")
"""Files and folders of the checkout that decide which jobs there are, and which of them have to run."""
RECORDED = (STATE / "metadata", STATE / "incomplete")
"""Snakemake's records of finished and interrupted jobs."""
OWN = ("__pycache__", ".digests.jsonl")
"""What planning itself writes into these folders."""
KEPT = 20
"""Lists that are kept: the newest."""


def jobs_of_study(
    root: Path,
    config: Mapping[str, Any],
    targets: Sequence[str] = (),
    find: Callable[[Path, Mapping[str, Any], Sequence[str]], list[Job]] = jobs_of,
) -> list[Job]:
    """Return all jobs behind the targets, by the whole configuration of a study. If no file changed that
    decides them, they are those that `find` listed before."""
    request = json.dumps([str(root.absolute()), config, sorted(targets)], sort_keys=True, default=str)
    path = FOLDER / f"{hashlib.sha256(request.encode()).hexdigest()}.json"
    state = state_of(root, config)
    if path.is_file() and (kept := read_json(path))["state"] == state:
        return [Job(*values) for values in kept["jobs"]]
    jobs = find(root, config, targets)
    # If a run has made results meanwhile, the list may match neither state.
    if state_of(root, config) == state:
        write_json(path, {"state": state, "jobs": [list(vars(job).values()) for job in jobs]})
        for old in sorted(FOLDER.iterdir(), key=lambda file: file.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    return jobs


def state_of(root: Path, config: Mapping[str, Any]) -> str:
    """Return a digest of the names, sizes and times of all files that decide a study's jobs."""
    digest = hashlib.sha256(snakemake.__version__.encode())
    places = [*(root / name for name in DECIDING), *own_settings(root), *RECORDED, *_of_study(config)]
    for line in _listing(places):
        digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()


def _of_study(config: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the results, the mirror and the user's own folders of a study."""
    yield Path(paths_of_scale(config["scale"], config["results"]).results)
    yield from map(Path, (config.get("local_files") or {}).values())
    if config.get("mirror"):
        yield Path(config["mirror"])


def _listing(places: Iterable[Path]) -> Iterator[str]:
    """Yield a line for each of these places, and for each file at or below it, with its size and time."""
    for place in places:
        yield f"{place}\n"
        if place.is_file():
            yield _line(place.stat(), str(place))
        for folder, folders, files in os.walk(place, followlinks=True):
            folders[:] = sorted(set(folders).difference(OWN))
            for file in sorted(set(files).difference(OWN)):
                path = f"{folder}/{file}"
                yield _line(_status(path), path)


def _status(path: str) -> os.stat_result:
    """Return the status of a file; specs of a workspace are links, whose own status says nothing."""
    status = os.lstat(path)
    return Path(path).stat() if stat.S_ISLNK(status.st_mode) and Path(path).exists() else status


def _line(status: os.stat_result, path: str) -> str:
    return f"{path}\t{status.st_size}\t{status.st_mtime_ns}\n"
