"""`pubmill score`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script


def score(
    context: typer.Context,
    predictions: Annotated[str, typer.Argument(help="file of predictions, or a folder of DATASET.EXT")],
    dataset: Annotated[str, typer.Option(help="for example chemprot@blurb; not for a folder")] = "",
) -> None:
    """Score predictions of any system for a converted dataset."""
    named = ("--dataset", dataset) if dataset else ()
    start_script("score_submission", predictions, *named, *context.args)
