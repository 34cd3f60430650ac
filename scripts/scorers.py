"""Score one file of predictions by every convention of the literature, or name those that give a number.

    .venv/bin/python scripts/scorers.py FILE.predictions.jsonl.gz --dataset ncbi-disease
    .venv/bin/python scripts/scorers.py FILE.predictions.jsonl.gz --dataset ncbi-disease --which 95.3

Inputs:  the predictions (pubmill.metrics.records.read_predictions) and the converted dataset in --results
Outputs: a table on standard output: each convention, its score in per cent, and who scores in this way; with
         --json the same as JSON, scores being fractions. With --which the names of the conventions that
         round to a number, in per cent; if no convention does, the nearest, and status 1
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.annotation.examples import SPLITS
from pubmill.errors import PubmillError, run
from pubmill.inspection.converted_datasets import check_name
from pubmill.inspection.scorer_printing import print_scores
from pubmill.library.loaded_datasets import load_dataset
from pubmill.metrics.conventions import ConventionScore, matching
from pubmill.specs import load
from pubmill.tables.convention_scores import rows, scores_by_convention, which


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("predictions", type=Path, help="the file of predictions")
    parser.add_argument("--dataset", required=True, help="name of its spec, for example ncbi-disease")
    parser.add_argument("--split", default="test", choices=SPLITS, help="the split predicted (test)")
    parser.add_argument("--results", type=Path, default=Path("results/full"), help="folder of a scale")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--which", metavar="NUMBER", help="name the conventions that give a printed number")
    shown.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    scores = score(arguments.predictions, arguments.dataset, arguments.split, arguments.results)
    if arguments.which is not None:
        print(which(scores, arguments.which))
        raise SystemExit(0 if matching(scores, arguments.which) else 1)
    if arguments.json:
        print(json.dumps(rows(scores), indent=2, ensure_ascii=False))
    else:
        print_scores(scores)


def score(predictions: Path, name: str, split: str, results: Path) -> list[ConventionScore]:
    """Return the scores of predictions for a split of a converted dataset."""
    specs = load(ROOT / "specs", "full")
    check_name(specs, name)
    splits = load_dataset(name, results)
    if split not in splits:
        raise PubmillError(f"{name} has no split {split}; its splits are {', '.join(splits)}")
    return scores_by_convention(specs.datasets[name], splits[split].path, predictions)


if __name__ == "__main__":
    run(main)
