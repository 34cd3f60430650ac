"""`pubmill mirror`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script
from pubmill.cli.studies import study_names


def mirror(
    context: typer.Context,
    study: Annotated[str, typer.Argument(help="name or file of a study", autocompletion=study_names)],
) -> None:
    """List every file that a study needs from the network; with --fetch FOLDER, fetch them."""
    start_script("mirror", study, *context.args)
