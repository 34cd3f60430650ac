"""`pubmill audit retractions`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.verbs import Verb


def retractions(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES...", help="files of PubMed, or parsed shards of PMC")
    ],
) -> None:
    """Count retracted, corrected and republished documents, and their notices, in files of PubMed.

    The documents of datasets among them are listed in dataset-notices.json of each corpus that a study
    pretrains on.
    """
    checkout()
    from pubmill.corpus.notice_counts import MARK_COLUMNS, count_marks
    from pubmill.messages.wording import aligned

    documents, rows = count_marks(files)
    print("\n".join([f"{documents} documents", "", *aligned([MARK_COLUMNS, *rows])]))


VERB = Verb("Papers", retractions)
