"""`pubmill inputs`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script


def inputs(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="for example chemprot@blurb")],
    folder: Annotated[str, typer.Argument(help="folder to write")],
) -> None:
    """Write the test inputs of a converted dataset without gold, so that other systems can predict them."""
    start_script("inputs", dataset, folder, *context.args)
