"""`pubmill audit`."""

import typer

from pubmill.cli.checkout import checkout, start_script


def audit(context: typer.Context) -> None:
    """Test which published numbers are possible: all of them, or one (`value 87.56 --metric accuracy --n 140
    --runs 10`); split scores by what items share with training (`seen RUNS`); or test which ranks of a table
    are resolved (`ranks TABLE`)."""
    checkout()
    start_script("audit", *(context.args or ["page"]))
