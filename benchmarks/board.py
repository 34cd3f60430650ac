"""Processor time of a leaderboard: made-up submissions to converted datasets, scored and compared.

    .venv/bin/python benchmarks/board.py [--quick] [--results results/full] [--submissions 20]

Submission n has the right answer for a share of the test examples, which grows with n, and for the others
the prediction of a floor. `pubmill board` runs twice in a process of its own: with everything to score, then
with nothing. RESULTS has the converted datasets: 11 of BLURB, and LINNAEUS. `--quick`: two submissions to two
of them. There is no peer.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

# replaces this folder, whose datasets.py would hide the library
ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from pubmill.examples.kinds import KINDS, Example, read_examples
from pubmill.extras.board.board_files import BOARD, CARD, SUBMISSIONS
from pubmill.extras.floors.floor_predictions import floors_of, prediction_row
from pubmill.specs import DatasetSpec, load
from pubmill.storage.files import write_jsonl_gz

DATASETS = (
    "bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba", "linnaeus", "chemprot@blurb", "ddi@blurb",
    "gad@blurb", "biosses", "hoc@blurb", "pubmedqa",
)  # fmt: skip
CARD_TEXT = (
    "label: System {n}\nsubmitted: 2026-01-01\nsystem: {{name: system-{n}, version: '1', prompt: none}}\n"
)


def answers(spec: DatasetSpec, results: Path) -> tuple[Sequence[Example], list[Any], list[Any]]:
    """Return the test examples of a dataset, their right answers, and the predictions of a floor."""
    folder = results / "datasets" / spec.name
    known, test = (
        list(read_examples(folder / f"{split}.jsonl.gz", KINDS[spec.kind])) for split in ("train", "test")
    )
    field = next(name for name in ("labels", "label", "score") if hasattr(test[0], name))
    predictions = (floor.predict(known, test) for floor in floors_of(spec.kind, spec.task))
    floor = next(one for one in predictions if one is not None)
    return test, [getattr(example, field) for example in test], floor


def submissions(spec: DatasetSpec, results: Path, number: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the lines of each submission to a dataset."""
    test, right, floor = answers(spec, results)
    for n in range(1, number + 1):
        known = np.random.default_rng(n).random(len(test)) < n / (number + 1)
        yield [
            prediction_row(example, gold if is_known else other)
            for example, gold, other, is_known in zip(test, right, floor, known, strict=True)
        ]


def make_board(folder: Path, results: Path, datasets: Sequence[str], number: int) -> None:
    """Write a board with its submissions."""
    known = load(ROOT / "specs", "full").datasets
    folder.mkdir()
    (folder / BOARD).write_text(f"title: Made up\ndatasets: [{', '.join(datasets)}]\n", encoding="utf-8")
    for dataset in datasets:
        for n, rows in enumerate(submissions(known[dataset], results, number), 1):
            place = folder / SUBMISSIONS / f"system-{n}"
            place.mkdir(parents=True, exist_ok=True)
            (place / CARD).write_text(CARD_TEXT.format(n=n), encoding="utf-8")
            write_jsonl_gz(place / f"{dataset}.jsonl.gz", rows)


def processor_seconds(folder: Path, results: Path) -> tuple[float, float]:
    """Return processor seconds and the largest resident memory in MB of `pubmill board`, run once."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [
        str(Path(sys.executable).with_name("pubmill")),
        "board",
        str(folder),
        "--results",
        str(results),
    ]
    subprocess.run(command, check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", type=Path, default=ROOT / "results/full")
    parser.add_argument("--submissions", type=int, default=20)
    given = parser.parse_args()
    datasets = DATASETS[9::2] if given.quick else DATASETS
    number = 2 if given.quick else given.submissions
    with TemporaryDirectory() as place:
        folder = Path(place) / "board"
        make_board(folder, given.results, datasets, number)
        print(f"{number} submissions to {len(datasets)} datasets")
        for name in ("first", "again"):
            seconds, memory = processor_seconds(folder, given.results)
            print(f"{name}: {seconds:.1f} CPU-s")
        print(f"resident: {memory:.0f} MB")
        size = sum(path.stat().st_size for path in (folder / "site").rglob("*") if path.is_file())
        print(f"site: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
