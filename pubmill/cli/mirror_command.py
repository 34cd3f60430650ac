"""`pubmill mirror`."""

import typer

from pubmill.cli.checkout import start_script
from pubmill.cli.studies import StudyName


def mirror(
    context: typer.Context,
    study: StudyName,
) -> None:
    """List the files that a study needs from the network.

    --fetch FOLDER fetches them into a mirror.
    """
    start_script("mirror", study, *context.args)
