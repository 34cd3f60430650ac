"""Manifests of runs: the files of all seeds that one job made, and how each seed ended.

A manifest is the only file that a job declares to Snakemake. Files of seeds lie beside it, so that a job that
is killed, or runs again for one more seed, finds what is done.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.metrics.collapse import failure_of
from pubmill.storage.checksums import folder_sha256
from pubmill.storage.files import read_json, sealed, sha256, write_json
from pubmill.storage.result_paths import PREDICTIONS, TRAINING


class SeedFiles(NamedTuple):
    """The files of one seed. `failed`: why it has no predictions, a fault of model, recipe or data."""

    seed: int
    predictions: Path
    training: Path
    failed: str | None


def write_manifest(path: Path, stems: Sequence[str], models: Mapping[str, Path] | None = None) -> None:
    """Write the manifest of seeds whose files have these stems, below its folder; `models`: stem -> folder of
    the task model that was kept."""
    seeds, files = list[dict[str, Any]](), dict[str, str]()
    for stem in stems:
        names = {"predictions": f"{stem}{PREDICTIONS}", "training": f"{stem}{TRAINING}"}
        report = read_json(path.parent / names["training"])
        row = {"seed": report["seed"], "failed": failure_of(report), **names}
        if models and stem in models:
            folder = models[stem]
            relative = os.path.relpath(folder, path.parent)
            row["model"] = {"folder": relative, "sha256": folder_sha256(folder)}
        seeds.append(row)
        files |= {name: sha256(path.parent / name) for name in names.values()}
    write_json(path, sealed({"seeds": seeds, "files": files}))


def read_manifest(path: Path) -> list[SeedFiles]:
    """Return the seeds of a manifest; raise a `PubmillError` for any other file, and if a file of a
    seed is not the one that it states."""
    content = read_json(path)
    seeds = content.get("seeds") if isinstance(content, dict) else None
    if not isinstance(seeds, list) or not all(set(SeedFiles._fields) <= set(one) for one in seeds):
        raise PubmillError(f"{path}: expected a manifest with `seeds`; run the job that writes it again")
    for name, digest in content.get("files", {}).items():
        file = path.parent / name
        if not file.is_file() or sha256(file) != digest:
            fault = "is not there" if not file.is_file() else "is not the file that its job wrote"
            raise PubmillError(
                f"{file} {fault}: {path} states the SHA-256 {digest}. Delete {path} and run the same command "
                "again, which makes what is missing anew"
            )
    return [
        SeedFiles(one["seed"], path.parent / one["predictions"], path.parent / one["training"], one["failed"])
        for one in seeds
    ]
