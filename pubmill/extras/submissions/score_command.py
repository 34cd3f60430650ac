"""`pubmill score`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, Results
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.hardware.process_limits import limited
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import unknown
from pubmill.storage.privacy import keep_private
from pubmill.storage.submission_files import submitted_files

if TYPE_CHECKING:
    from pubmill.extras.submissions.blurb import BlurbDocument
    from pubmill.extras.submissions.scores import ScoredSubmission
    from pubmill.recipes.submissions import System


def score(
    predictions: Annotated[Path, typer.Argument(help="file of predictions, or a folder of DATASET.EXT")],
    dataset: Annotated[
        str | None, typer.Option(help="name of its spec, for example chemprot@blurb; not for a folder")
    ] = None,
    results: Results = FULL,
    form: Annotated[str | None, typer.Option(help="form of the file (default: from its content)")] = None,
    order: Annotated[
        str | None, typer.Option(help="export: predictions have no ids, but the order of the export")
    ] = None,
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
    from pubmill.extras.submissions.forms import FORMS
    from pubmill.extras.submissions.submission import read_mapping
    from pubmill.recipes import read
    from pubmill.recipes.submissions import System

    if form is not None and form not in FORMS:
        raise PubmillError(unknown("form", form, list(FORMS)))
    of_system = read(System, system, option="--system") if system else None
    if order not in (None, "export"):
        raise PubmillError(f"--order {order}: expected export, the order in which datasets are exported")
    way = Way(results, form, "export" if order else None, read_mapping(mapping), of_system, all_scorers)
    limited(lambda: score_files(root, predictions, dataset, way, output))()
    if output:
        report_progress(f"predictions and scores written to {output}")


class Way(NamedTuple):
    """How predictions are read and scored: options of the verb."""

    results: Path
    form: str | None
    order: Literal["export"] | None
    mapping: dict[str, str]
    system: "System | None"
    all_scorers: bool


def score_files(root: Path, predictions: Path, dataset: str | None, way: Way, output: Path | None) -> None:
    """Score each file, print its scores, and write them below `output`, if any."""
    from pubmill.extras.submissions import written_scores
    from pubmill.extras.submissions.scores import score_submission
    from pubmill.extras.submissions.submission import recipe_of
    from pubmill.inspection.converted_datasets import check_name, converted_folder, specs_of_results
    from pubmill.inspection.scorer_printing import print_scores

    specs = specs_of_results(root, way.results)
    if dataset is not None:
        check_name(specs, dataset)
    documents: dict[int, dict[str, BlurbDocument]] = {}
    for name, seed, path in submitted_files(predictions, dataset, specs.datasets):
        folder, spec = converted_folder(root, way.results, name), specs.datasets[name]
        keep_private([folder])
        recipe = recipe_of(folder, way.system, way.form, way.mapping, spec.dummies, way.order)
        scored = score_submission(path, recipe, way.results)
        print_scored(scored, seed)
        if way.all_scorers:
            print_scores(scored.by_every_scorer(spec.task))
        if output:
            written_scores.write_scores(output, scored, seed)
            documents.setdefault(seed, {}).update(written_scores.document_for_blurb(scored))
    if output:
        written_scores.write_for_blurb(output, documents)


def print_scored(scored: "ScoredSubmission", seed: int) -> None:
    """Print the scores, the metric of the dataset first, and what was left aside."""
    from pubmill.planning.terminal_tables import print_text

    shown = [f"{name} {100 * scored.metrics[name]:.2f}" for name in scored.main_first()]
    recipe = scored.recipe
    print_text(
        f"{recipe.dataset} {recipe.split}, seed {seed}, {len(scored.examples)} examples, "
        f"{scored.submission.form}: {', '.join(shown)}"
    )
    for line in scored.shown_left_aside():
        print_text(f"  {line}")


VERB = Verb("Data and predictions", score)
