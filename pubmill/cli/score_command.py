"""`pubmill score`."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, Results
from pubmill.errors import PubmillError
from pubmill.hardware.process_limits import limited
from pubmill.messages.nearest_names import SHOWN, nearest, unknown
from pubmill.messages.progress import report_progress
from pubmill.storage.files import read_json, write_json, write_jsonl_gz
from pubmill.storage.privacy import keep_private, write_label_beside
from pubmill.storage.result_paths import PREDICTIONS

if TYPE_CHECKING:
    from pubmill.recipes.submissions import System
    from pubmill.specs import Specs
    from pubmill.submissions.scores import ScoredSubmission


def score(
    predictions: Annotated[Path, typer.Argument(help="file of predictions, or a folder of DATASET.EXT")],
    dataset: Annotated[
        str | None, typer.Option(help="name of its spec, for example chemprot@blurb; not for a folder")
    ] = None,
    results: Results = FULL,
    form: Annotated[str | None, typer.Option(help="form of the file (default: from its content)")] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="JSON: answer, label or type -> label of the dataset")
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="JSON text or file: name, version, url or prompt, local")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="folder for predictions, scores and exports")] = None,
    all_scorers: Annotated[
        bool, typer.Option("--all-scorers", help="score by every published scorer, too")
    ] = False,
) -> None:
    """Score predictions of any system for a converted dataset.

    docs/submissions.md has the forms that are read. With --output, also writes the predictions in pubmill's
    form, the scores as scores.json, the records of Every Eval Ever, and BLURB's submission, a zip archive.
    """
    root = checkout()
    from pubmill.recipes import read
    from pubmill.recipes.submissions import System
    from pubmill.submissions.forms import FORMS

    if form is not None and form not in FORMS:
        raise PubmillError(unknown("form", form, list(FORMS)))
    of_system = read(System, system, option="--system") if system else None
    way = Way(results, form, read_mapping(mapping), of_system, all_scorers)
    limited(lambda: score_files(root, predictions, dataset, way, output))()
    if output:
        report_progress(f"predictions and scores written to {output}")


class Way(NamedTuple):
    """How predictions are read and scored: options of the verb."""

    results: Path
    form: str | None
    mapping: dict[str, str]
    system: "System | None"
    all_scorers: bool


def score_files(root: Path, predictions: Path, dataset: str | None, way: Way, output: Path | None) -> None:
    """Score each file, print its scores, and write them below `output`, if any."""
    from pubmill.inspection.converted_datasets import converted_folder, specs_of_results
    from pubmill.inspection.scorer_printing import print_scores
    from pubmill.submissions import blurb
    from pubmill.submissions.scores import score_submission
    from pubmill.submissions.submission import recipe_of

    specs = specs_of_results(root, way.results)
    documents: dict[int, dict[str, Any]] = {}
    for name, seed, path in submitted_files(predictions, dataset, specs):
        folder, spec = converted_folder(root, way.results, name), specs.datasets[name]
        keep_private([folder])
        recipe = recipe_of(folder, way.system, way.form, way.mapping, spec.dummies)
        found = score_submission(path, recipe, way.results)
        print_scored(found, seed)
        if way.all_scorers:
            print_scores(found.by_every_scorer(spec.task))
        if output:
            write_scored(output, found, seed)
            documents.setdefault(seed, {}).update(document_for_blurb(found))
    for seed, content in documents.items():
        if output and content:
            archive = output / f"blurb.seed-{seed}.zip"
            write_label_beside(archive)
            blurb.write_archive(archive, content)


def submitted_files(path: Path, dataset: str | None, specs: "Specs") -> Iterator[tuple[str, int, Path]]:
    """Yield dataset, seed and file of each file of predictions."""
    from pubmill.inspection.converted_datasets import check_name
    from pubmill.storage.submission_files import other_files, submission_files

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


def read_mapping(path: Path | None) -> dict[str, str]:
    """Read a mapping of answers, labels or types to labels of the dataset; no file is an empty mapping."""
    mapping = read_json(path) if path else {}
    if not isinstance(mapping, dict) or not all(isinstance(label, str) for label in mapping.values()):
        raise PubmillError(f"{path}: expected a JSON object: answer, label or type -> label of the dataset")
    return mapping


def print_scored(found: "ScoredSubmission", seed: int) -> None:
    """Print the scores, the metric of the dataset first, and what was left aside."""
    shown = [f"{name} {100 * found.metrics[name]:.2f}" for name in found.main_first()]
    recipe = found.recipe
    print(
        f"{recipe.dataset} {recipe.split}, seed {seed}, {len(found.examples)} examples, "
        f"{found.submission.form}: {', '.join(shown)}"
    )
    for line in found.shown_left_aside():
        print(f"  {line}")


def document_for_blurb(found: "ScoredSubmission") -> dict[str, Any]:
    """Return the document of a dataset of BLURB by its name; nothing for other datasets."""
    from pubmill.submissions import blurb

    dataset, lines = found.recipe.dataset, found.submission.lines
    if dataset not in blurb.NAMES:
        return {}
    if why := blurb.fault(lines):
        print(f"  not in the archive for BLURB: {why}")
        return {}
    model = found.recipe.system.name if found.recipe.system else "unnamed"
    return {dataset: blurb.document(dataset, model, found.examples, lines)}


def write_scored(folder: Path, found: "ScoredSubmission", seed: int) -> None:
    """Write predictions, scores and records of Every Eval Ever."""
    import pubmill
    from pubmill.submissions import every_eval_ever

    name = Path(found.recipe.dataset, f"seed-{seed}")
    write_label_beside(folder / f"{name}.scores.json")
    write_jsonl_gz(folder / f"{name}{PREDICTIONS}", found.submission.lines)
    write_json(folder / f"{name}.scores.json", found.summary())
    every_eval_ever.write(folder / "every-eval-ever", found, int(time.time()), pubmill.__version__)
