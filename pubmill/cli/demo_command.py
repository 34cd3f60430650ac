"""`pubmill demo`."""

import typer

from pubmill.cli.checkout import checkout, make_demo_files
from pubmill.cli.dry_runs import writes_nothing_if_dry
from pubmill.cli.run_requests import Request
from pubmill.cli.studies import configuration, snakemake_words, sort_words
from pubmill.cli.verbs import Verb


@writes_nothing_if_dry
def demo(context: typer.Context) -> None:
    """Run the whole pipeline on made-up miniature data."""
    make_demo_files()
    words = sort_words(context.args)
    request = Request(
        checkout(), configuration(words.configfiles, words.settings), words.configfiles, words.names
    )
    raise SystemExit(request.run(words, snakemake_words(words.names, [], words)))


VERB = Verb("Run", demo, passes_on=True)
