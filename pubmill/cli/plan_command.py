"""`pubmill plan`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script
from pubmill.cli.studies import study_names


def plan(
    context: typer.Context,
    study: Annotated[str, typer.Argument(help="name or file of a study", autocompletion=study_names)],
) -> None:
    """Estimate what a study costs before it runs: jobs, bytes, hours of processors and GPUs."""
    start_script("plan", study, *context.args)
