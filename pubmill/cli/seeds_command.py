"""`pubmill seeds`."""

import typer

from pubmill.cli.checkout import start_script
from pubmill.cli.studies import StudyName


def seeds(context: typer.Context, study: StudyName) -> None:
    """Show which runs to make next, and which pairs are decided.

    A pair of models is decided if the finished runs of the study show a difference between them: on the
    scored documents, and on others of their kind (with --documents, runs are planned for the latter).
    """
    start_script("seeds", study, *context.args)
