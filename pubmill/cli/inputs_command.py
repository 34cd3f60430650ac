"""`pubmill inputs`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script


def inputs(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="for example chemprot@blurb")],
    folder: Annotated[str, typer.Argument(help="folder to write")],
) -> None:
    """Write test inputs without gold, for other systems to predict."""
    start_script("inputs", dataset, folder, *context.args)
