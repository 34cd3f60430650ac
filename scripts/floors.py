"""Score predictions that need no learning, or seconds of it, beside the published scores of datasets.

    .venv/bin/python scripts/floors.py --dataset pubmedqa --dataset ncbi-disease
    .venv/bin/python scripts/floors.py --results results/full --format md

Inputs:  the converted datasets in --results; all of them unless --dataset names some
Outputs: floors/DATASET/FLOOR.predictions.jsonl.gz and FLOOR.json in --results, or in --output; and the table
         on standard output
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import PubmillError, run
from pubmill.floors.floors_table import FORMS
from pubmill.floors.headroom import DatasetHeadroom, ceiling_of, headroom
from pubmill.floors.measured import measure_floors
from pubmill.inspection.converted_datasets import check_name
from pubmill.library.loaded_datasets import load_dataset
from pubmill.messages.progress import report_progress
from pubmill.specs import Specs, load
from pubmill.storage.result_paths import CARD, Paths

SPECS = ROOT / "specs"
NEEDED = ("train", "test")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", action="append", metavar="NAME", help="only this one; repeat")
    parser.add_argument("--results", type=Path, default=Path("results/full"), help="folder of a scale")
    parser.add_argument("--output", type=Path, help="folder to write (floors in --results)")
    parser.add_argument("--format", choices=FORMS, default="text", help="of the table (text)")
    arguments = parser.parse_args()
    specs = load(SPECS, "full")
    names = arguments.dataset or converted(specs, arguments.results)
    output = arguments.output or Path(Paths(arguments.results).floors())
    found = []
    for name in names:
        found.append(measure(specs, name, arguments.results, output / name))
        report_progress(f"{len(found)} of {len(names)}: {name}")
    print(FORMS[arguments.format](found), end="")


def converted(specs: Specs, results: Path) -> list[str]:
    """Return the datasets with train and test splits that are converted in a results folder."""
    folders = {name: Path(Paths(results).dataset(name)) for name in sorted(specs.datasets)}
    made = [name for name, folder in folders.items() if (folder / CARD).is_file()]
    if not made:
        others = sorted({str(card.parents[2]) for card in results.parent.glob(f"*/datasets/*/{CARD}")})
        advice = f"give --results {' or '.join(others)}" if others else "convert some, or give --results"
        raise PubmillError(f"{results} has no converted datasets; {advice}")
    whole = [name for name in made if all((folders[name] / f"{one}.jsonl.gz").is_file() for one in NEEDED)]
    if left_out := [name for name in made if name not in whole]:
        report_progress(f"left out, without examples in {' and '.join(NEEDED)}: {', '.join(left_out)}")
    return whole


def measure(specs: Specs, name: str, results: Path, output: Path) -> DatasetHeadroom:
    """Measure the floors of a dataset."""
    check_name(specs, name)
    data, splits = specs.datasets[name], load_dataset(name, results)
    floors = measure_floors(data, {split: one.path for split, one in splits.items()}, output)
    return headroom(data, floors, ceiling_of(data, splits["test"]), specs, SPECS)


if __name__ == "__main__":
    run(main)
