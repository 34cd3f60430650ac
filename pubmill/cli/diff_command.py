"""`pubmill diff`."""

from typing import Annotated

import typer

from pubmill.cli.checkout import start_script

SIDE = "a record, a folder of runs, a study, PROTOCOL/SETTING, or a commit"


def diff(
    context: typer.Context,
    left: Annotated[str, typer.Argument(metavar="A", help=SIDE)],
    right: Annotated[str, typer.Argument(metavar="B", help="the same")],
) -> None:
    """Show how two commits, studies, settings or sets of runs differ.

    Prints keys of resolved recipes, scores with an interval, documents and cost. For the columns of
    one table, use compare.
    """
    start_script("diff", left, right, *context.args)
