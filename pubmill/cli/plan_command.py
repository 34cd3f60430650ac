"""`pubmill plan`."""

import typer

from pubmill.cli.checkout import start_script
from pubmill.cli.studies import StudyName


def plan(
    context: typer.Context,
    study: StudyName,
) -> None:
    """Estimate the cost of a study: jobs, bytes, CPU- and GPU-hours."""
    start_script("plan", study, *context.args)
