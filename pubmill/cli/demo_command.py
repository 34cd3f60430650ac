"""`pubmill demo`."""

import typer

from pubmill.cli.checkout import make_demo_files, start_snakemake
from pubmill.cli.dry_runs import writes_nothing_if_dry
from pubmill.cli.studies import snakemake_words, sort_words
from pubmill.cli.verbs import Verb


@writes_nothing_if_dry
def demo(context: typer.Context) -> None:
    """Run the whole pipeline on made-up miniature data."""
    make_demo_files()
    words = sort_words(context.args)
    start_snakemake(*snakemake_words(words.names, [], words))


VERB = Verb("Run", demo, passes_on=True)
