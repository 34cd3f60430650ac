"""`pubmill mirror`."""

import typer

from pubmill.cli.checkout import start_script
from pubmill.cli.studies import StudyName


def mirror(
    context: typer.Context,
    study: StudyName,
) -> None:
    """List every file that a study needs from the network; with --fetch FOLDER, fetch them."""
    start_script("mirror", study, *context.args)
