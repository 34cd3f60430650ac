"""`pubmill export`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script


def export(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="for example chemprot@blurb")],
    folder: Annotated[str, typer.Argument(help="folder to write")],
) -> None:
    """Write a converted dataset in a published or general form."""
    start_script("export", dataset, folder, *context.args)
