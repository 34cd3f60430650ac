"""Files of predictions in a folder: `DATASET.EXT`, or `seed-N/DATASET.EXT` for several runs."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import SHOWN, nearest

_SEED = re.compile(r"seed-([1-9][0-9]{0,5})")


def submitted_files(
    path: Path, dataset: str | None, datasets: Collection[str]
) -> Iterator[tuple[str, int, Path]]:
    """Yield (dataset, seed, path) of each file of predictions. With `dataset`, `path` is its only file; else
    `path` is a folder, of which files that are named after none of `datasets` are reported."""
    if path.is_dir() == (dataset is not None):
        raise PubmillError(
            f"{path}: give --dataset for a file of predictions, and leave it out for a folder of DATASET.EXT"
        )
    if dataset is not None:
        yield dataset, 1, path
        return
    files = submission_files(path, datasets)
    if not files:
        raise PubmillError(f"{path}: no file is named DATASET.EXT after a dataset, for example bc2gm.conll")
    for other in other_files(path, datasets):
        near = ", ".join(nearest(other.name.partition(".")[0], datasets)[:SHOWN])
        report_progress(f"{other} is not scored: it is named after no dataset; the nearest: {near}")
    for name, seeds in files.items():
        for seed, file in seeds.items():
            yield name, seed, file


def submission_files(folder: Path, datasets: Collection[str]) -> dict[str, dict[int, Path]]:
    """Return dataset -> seed -> file; predictions without seeds have seed 1. Files that are named after no
    dataset are left alone. Two files for one dataset and seed, and predictions with and without seeds for one
    dataset, raise a `PubmillError`."""
    by_dataset: dict[str, dict[int, Path]] = {}
    for dataset, seed, path in _files(folder, datasets):
        if dataset is None:
            continue
        others = by_dataset.setdefault(dataset, {})
        if seed in others:
            raise PubmillError(
                f"{path} and {others[seed]}: two files of predictions for {dataset}, seed {seed}; give one"
            )
        others[seed] = path
    return {dataset: dict(sorted(files.items())) for dataset, files in sorted(by_dataset.items())}


def other_files(folder: Path, datasets: Collection[str]) -> list[Path]:
    return [path for dataset, _, path in _files(folder, datasets) if dataset is None]


def _files(folder: Path, datasets: Collection[str]) -> Iterator[tuple[str | None, int, Path]]:
    """Yield dataset, seed and path of each file; the dataset is None if the file is named after none."""
    longest_first = sorted(datasets, key=len, reverse=True)
    for path in sorted(folder.iterdir()):
        seed = _SEED.fullmatch(path.name)
        for file in sorted(path.iterdir()) if seed and path.is_dir() else [path]:
            dataset = next((name for name in longest_first if file.name.startswith(f"{name}.")), None)
            if file.is_file():
                yield dataset, int(seed[1]) if seed else 1, file
