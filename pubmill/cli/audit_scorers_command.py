"""`pubmill audit scorers`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, Results, specs_folder
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Split


def scorers(
    predictions: Annotated[Path, typer.Argument(help="the file of predictions")],
    dataset: Annotated[str, typer.Option(help="name of its spec, for example ncbi-disease")],
    split: Annotated[Split, typer.Option(help="the split predicted")] = "test",
    results: Results = FULL,
    which: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="name the scorers that give a printed number")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON; scores are fractions")] = False,
) -> None:
    """Score predictions by every scorer of the literature.

    Prints each scorer, its score in per cent, and who scores in this way. With --which, names those that
    round to a number, in per cent; if none does, the nearest, with status 1.
    """
    checkout()
    from pubmill.inspection import scorer_printing
    from pubmill.inspection.converted_datasets import check_name
    from pubmill.library.loaded_datasets import load_dataset
    from pubmill.metrics.scorers import matching
    from pubmill.specs import load

    specs = load(specs_folder(), "full")
    check_name(specs, dataset)
    splits = load_dataset(dataset, results)
    if split not in splits:
        raise PubmillError(f"{dataset} has no split {split}; its splits are {', '.join(splits)}")
    scores = scorer_printing.scores_by_scorer(specs.datasets[dataset], splits[split].path, predictions)
    if which is not None:
        print(scorer_printing.which(scores, which))
        raise typer.Exit(0 if matching(scores, which) else 1)
    if as_json:
        print(json.dumps(scorer_printing.rows(scores), indent=2, ensure_ascii=False))
    else:
        scorer_printing.print_scores(scores)


VERB = Verb("Papers", scorers)
