"""`pubmill score`."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from pubmill.predictions.scores import ScoredSubmission
    from pubmill.tables.published_values import PublishedScore


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
    output: Annotated[Path | None, typer.Option(help="folder for predictions and scores")] = None,
    all_scorers: Annotated[
        bool, typer.Option("--all-scorers", help="score by every published scorer, too")
    ] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="examples without a prediction count as empty or wrong")
    ] = False,
) -> None:
    """Score predictions of any system for a converted dataset.

    docs/submissions.md has the forms that are read. All gold of the split counts, and predictions that cannot
    be placed are false positives. With --output, the predictions are also written in pubmill's form, and the
    scores as scores.json.
    """
    root = checkout()
    from pubmill.inspection.converted_datasets import check_name, converted_folder, specs_of_results
    from pubmill.messages.terminal_tables import console, table
    from pubmill.predictions.forms import FORMS
    from pubmill.predictions.scores import score_submission
    from pubmill.predictions.submission import read_mapping, recipe_of
    from pubmill.recipes import read
    from pubmill.recipes.submissions import System
    from pubmill.tables.published_values import published_scores

    if form is not None and form not in FORMS:
        raise PubmillError(unknown("form", form, list(FORMS)))
    of_system = read(System, system, option="--system") if system else None
    if order not in (None, "export"):
        raise PubmillError(f"--order {order}: expected export, the order in which datasets are exported")
    reading: dict[str, Any] = {"form": form, "order": order, "mapping": read_mapping(mapping)}
    reading |= {"system": of_system, "partial": partial}

    @limited
    def score_files() -> None:
        specs = specs_of_results(root, results)
        if dataset is not None:
            check_name(specs, dataset)
        for name, seed, path in submitted_files(predictions, dataset, specs.datasets):
            folder, spec = converted_folder(root, results, name), specs.datasets[name]
            keep_private([folder])
            made_up = name in specs.scale.datasets
            recipe = recipe_of(folder, dummies=spec.dummies, **reading)
            scored = replace(score_submission(path, recipe, results), made_up=made_up)
            published = () if made_up else tuple(published_scores(spec, specs, root / "specs"))
            print_scored(scored, seed, published)
            if all_scorers:
                made = table("scorer", "score", "what it is", "used by")
                for one in scored.by_every_scorer(spec.task):
                    value = "-" if one.score is None else f"{100 * one.score:.2f}"
                    made.add_row(one.scorer.name, value, one.scorer.definition, one.scorer.used)
                console().print(made)
            if output:
                scored.write(output, seed)

    score_files()
    if output:
        report_progress(f"predictions and scores written to {output}")


def print_scored(scored: "ScoredSubmission", seed: int, published: "Iterable[PublishedScore]") -> None:
    """Print the scores, the dataset's metric beside its published values, and what was left aside."""
    from pubmill.messages.terminal_tables import print_text

    main, *others = [f"{name} {100 * scored.metrics[name]:.2f}" for name in scored.main_first()]
    recipe, whole, missing = scored.recipe, len(scored.examples), scored.submission.reading.missing
    count = f"{whole - missing} of {whole}" if missing else str(whole)
    print_text(
        f"{recipe.dataset} {recipe.split}, seed {seed}, {count} examples, {scored.submission.form}: "
        f"{', '.join([main, *others])}"
    )
    print_text(f"  {main} is by the metric of the tables")
    by_table = groupby(published, lambda one: one.table)
    values = {table: sorted(one.value for one in some) for table, some in by_table}
    if values:
        ranges = (f"{some[0]:.2f} to {some[-1]:.2f} in {table}" for table, some in values.items())
        print_text(f"  published: {'; '.join(ranges)}")
    for line in scored.shown_left_aside():
        print_text(f"  {line}")


VERB = Verb("Data and predictions", score)
