"""Files of predictions in a folder: `DATASET.EXT`, or `seed-N/DATASET.EXT` for several runs."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pubmill.errors import PubmillError

_SEED = re.compile(r"seed-([1-9][0-9]{0,5})")


def submission_files(folder: Path, datasets: Collection[str]) -> dict[str, dict[int, Path]]:
    """Return dataset -> seed -> file; predictions without seeds have seed 1.

    Files that are named after no dataset are left alone. Two files for one dataset and seed, and predictions
    with and without seeds for one dataset, raise a `PubmillError`.
    """
    found: dict[str, dict[int, Path]] = {}
    for dataset, seed, path in _files(folder, datasets):
        if dataset is None:
            continue
        others = found.setdefault(dataset, {})
        if seed in others:
            raise PubmillError(
                f"{path} and {others[seed]}: two files of predictions for {dataset}, seed {seed}; give one"
            )
        others[seed] = path
    return {dataset: dict(sorted(files.items())) for dataset, files in sorted(found.items())}


def other_files(folder: Path, datasets: Collection[str]) -> list[Path]:
    """Return the files that are named after no dataset."""
    return [path for dataset, _, path in _files(folder, datasets) if dataset is None]


def _files(folder: Path, datasets: Collection[str]) -> Iterator[tuple[str | None, int, Path]]:
    """Yield dataset, seed and path of each file; the dataset is None if the file is named after none."""
    longest_first = sorted(datasets, key=len, reverse=True)
    for path in sorted(folder.iterdir()):
        seed = _SEED.fullmatch(path.name)
        inner = sorted(path.iterdir()) if seed and path.is_dir() else [path]
        for file in inner:
            dataset = next((name for name in longest_first if file.name.startswith(f"{name}.")), None)
            if file.is_file():
                yield dataset, int(seed[1]) if seed else 1, file
