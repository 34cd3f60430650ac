"""`pubmill doctor fsck`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError


def fsck(folder: Annotated[Path, typer.Argument(help="folder of results")] = Path("results")) -> None:
    """Find damaged results, and print the command that makes them again.

    Reads Parquet, gzip and .npz files, JSON with digests, packed tokens, checkpoints, and source files, whose
    SHA-256 is in their records. Changes nothing; the status is 1 if a file is damaged.
    """
    checkout()
    from pubmill.inspection.damaged_results import examine, report

    if not folder.is_dir():
        raise PubmillError(
            f"{folder} is not a folder; give the folder that is set as `results:` in the configuration"
        )
    findings = examine(folder)
    print("\n".join(report(findings)))
    if any(finding.fault for finding in findings):
        raise typer.Exit(1)


VERB = Verb("Look", fsck)
