"""`pubmill plan`."""

import typer

from pubmill.cli.checkout import start_script
from pubmill.cli.studies import StudyName


def plan(
    context: typer.Context,
    study: StudyName,
) -> None:
    """Estimate what a study costs before it runs: jobs, bytes, hours of processors and GPUs."""
    start_script("plan", study, *context.args)
