"""`pubmill audit seen`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.verbs import Verb
from pubmill.examples.kinds import Split


def seen(
    folders: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="folders of runs")],
    dev: Annotated[bool, typer.Option("--dev", help="dev counts as training, too")] = False,
    corpora: Annotated[
        list[str] | None, typer.Option(help="corpus that the models were pretrained on; may be repeated")
    ] = None,
) -> None:
    """Split the scores of runs by what items share with training.

    For runs on entities or relations, from their stored predictions; with --corpora also by whether a corpus
    contains the item's document, and by its year.
    """
    checkout()
    from pubmill.extras.overlap.overlap_of_runs import as_text, overlaps_of_runs

    training: tuple[Split, ...] = ("train", "dev") if dev else ("train",)
    print("\n\n".join(map(as_text, overlaps_of_runs(folders, training, corpora or ()))))


VERB = Verb("Papers", seen)
