"""Score predictions of any system for converted datasets, without a study. Needs no GPU and no torch.

    .venv/bin/python scripts/score_submission.py PREDICTIONS --dataset chemprot@blurb [--results results/full]
    .venv/bin/python scripts/score_submission.py FOLDER

Inputs:  a file of predictions in one of the forms of docs/submissions.md, or a folder of DATASET.EXT (or
         seed-N/DATASET.EXT); the converted examples, RESULTS/datasets/DATASET
Outputs: the scores, printed; with --all-scorers by every convention of docs/scorers.md, too. With --output
         FOLDER also the predictions in pubmill's form, the scores as scores.json, the records of Every Eval
         Ever, and BLURB's submission, a zip archive
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill import __version__, recipes
from pubmill.errors import PubmillError, run
from pubmill.hardware.process_limits import limited
from pubmill.inspection.converted_datasets import check_name, converted_folder, specs_of_results
from pubmill.inspection.scorer_printing import print_scores
from pubmill.messages.nearest_names import SHOWN, nearest
from pubmill.messages.progress import report_progress
from pubmill.recipes.submissions import System
from pubmill.specs import Specs
from pubmill.storage.files import read_json, write_json, write_jsonl_gz
from pubmill.storage.privacy import keep_private, write_label_beside
from pubmill.storage.result_paths import PREDICTIONS
from pubmill.storage.submission_files import other_files, submission_files
from pubmill.submissions import blurb, every_eval_ever
from pubmill.submissions.forms import FORMS
from pubmill.submissions.scores import ScoredSubmission, score_submission
from pubmill.submissions.submission import recipe_of


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("predictions", type=Path, help="file, or folder of DATASET.EXT")
    parser.add_argument("--dataset", help="name of the dataset's spec; not for a folder")
    parser.add_argument("--results", type=Path, default=Path("results/full"), help="results of a scale")
    parser.add_argument("--form", choices=FORMS, help="form of the file (default: from its content)")
    parser.add_argument("--mapping", type=Path, help="JSON: answer, label or type -> label of the dataset")
    parser.add_argument("--system", help="JSON text or file: name, version, url or prompt, local")
    parser.add_argument("--output", type=Path, help="folder for predictions, scores and exports")
    parser.add_argument("--all-scorers", action="store_true", help="score by every published scorer, too")
    arguments = parser.parse_args()
    specs = specs_of_results(ROOT, arguments.results)
    documents: dict[int, dict[str, Any]] = {}
    for seed, found in _scored(arguments, specs):
        _print(found, seed)
        if arguments.all_scorers:
            print_scores(found.by_every_scorer(specs.datasets[found.recipe.dataset].task))
        if arguments.output:
            _write(arguments.output, found, seed)
            documents.setdefault(seed, {}).update(_for_blurb(found))
    for seed, content in documents.items():
        if content:
            path = arguments.output / f"blurb.seed-{seed}.zip"
            write_label_beside(path)
            blurb.write_archive(path, content)
    if arguments.output:
        report_progress(f"predictions and scores written to {arguments.output}")


def _scored(arguments: argparse.Namespace, specs: Specs) -> Iterator[tuple[int, ScoredSubmission]]:
    system = recipes.read(System, arguments.system, option="--system") if arguments.system else None
    mapping = _mapping(arguments.mapping)
    for dataset, seed, path in _files(arguments, specs):
        folder = converted_folder(ROOT, arguments.results, dataset)
        keep_private([folder])
        dummies = specs.datasets[dataset].dummies
        recipe = recipe_of(folder, system, arguments.form, mapping, dummies)
        yield seed, score_submission(path, recipe, arguments.results)


def _files(arguments: argparse.Namespace, specs: Specs) -> Iterator[tuple[str, int, Path]]:
    path, dataset = arguments.predictions, arguments.dataset
    if path.is_dir() == (dataset is not None):
        raise PubmillError(
            f"{path}: give --dataset for a file of predictions, and leave it out for a folder of DATASET.EXT"
        )
    if dataset is not None:
        check_name(specs, dataset)
        yield dataset, 1, path
        return
    found = submission_files(path, specs.datasets)
    if not found:
        raise PubmillError(f"{path}: no file is named DATASET.EXT after a dataset, for example bc2gm.conll")
    for other in other_files(path, specs.datasets):
        near = ", ".join(nearest(other.name.partition(".")[0], specs.datasets)[:SHOWN])
        report_progress(f"{other} is not scored: it is named after no dataset; the nearest: {near}")
    for name, seeds in found.items():
        for seed, file in seeds.items():
            yield name, seed, file


def _mapping(path: Path | None) -> dict[str, str]:
    mapping = read_json(path) if path else {}
    if not isinstance(mapping, dict) or not all(isinstance(label, str) for label in mapping.values()):
        raise PubmillError(f"{path}: expected a JSON object: answer, label or type -> label of the dataset")
    return mapping


def _print(found: ScoredSubmission, seed: int) -> None:
    shown = [f"{name} {100 * found.metrics[name]:.2f}" for name in found.main_first()]
    recipe = found.recipe
    print(
        f"{recipe.dataset} {recipe.split}, seed {seed}, {len(found.examples)} examples, "
        f"{found.submission.form}: {', '.join(shown)}"
    )
    for line in found.shown_left_aside():
        print(f"  {line}")


def _for_blurb(found: ScoredSubmission) -> dict[str, Any]:
    """Return the document of a dataset of BLURB by its name; nothing for other datasets."""
    dataset, lines = found.recipe.dataset, found.submission.lines
    if dataset not in blurb.NAMES:
        return {}
    if why := blurb.fault(lines):
        print(f"  not in the archive for BLURB: {why}")
        return {}
    model = found.recipe.system.name if found.recipe.system else "unnamed"
    return {dataset: blurb.document(dataset, model, found.examples, lines)}


def _write(folder: Path, found: ScoredSubmission, seed: int) -> None:
    name = Path(found.recipe.dataset, f"seed-{seed}")
    write_label_beside(folder / f"{name}.scores.json")
    write_jsonl_gz(folder / f"{name}{PREDICTIONS}", found.submission.lines)
    write_json(folder / f"{name}.scores.json", found.summary())
    every_eval_ever.write(folder / "every-eval-ever", found, int(time.time()), __version__)


if __name__ == "__main__":
    run(limited(main))
