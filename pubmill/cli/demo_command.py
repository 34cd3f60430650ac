"""`pubmill demo`."""

import typer

from pubmill.cli.run_command import run
from pubmill.cli.verbs import Verb
from pubmill.specs.study import DEMO


def demo(context: typer.Context) -> None:
    """Run the whole pipeline on made-up miniature data."""
    run(context=context, study=DEMO, why=False)


VERB = Verb("Run", demo, passes_on=True)
