"""`pubmill new`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import SPECS

APP = typer.Typer(no_args_is_help=True, help="Write a new spec.")


@APP.callback()
def new() -> None:
    """Write a new spec."""


@APP.command()
def model(
    weights: Annotated[str, typer.Argument(help="./FOLDER, or hub:GROUP/MODEL@COMMIT")],
    name: Annotated[str | None, typer.Option(help="of the spec; that of the folder by default")] = None,
) -> None:
    """Describe a model folder or a model of the hub in specs/models/NAME.yaml, and check that it loads."""
    from pubmill.inspection.new_model import new_model, write_spec  # Imports torch, which takes seconds.

    checkout()
    described = new_model(weights, name)
    print(write_spec(described, SPECS))
    for key, folder in described.local_files.items():
        print(f"In the configuration: local_files: {{{key}: {folder}}}")
