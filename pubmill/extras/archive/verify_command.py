"""`pubmill verify`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.verbs import Verb
from pubmill.messages.wording import counted, escape_controls

MOST = 200
"""Differences that are printed; of more, only the number."""


def verify(
    archive: Annotated[Path, typer.Argument(help="STUDY.archive.zip of `pubmill run STUDY archive`")],
) -> None:
    """Score the predictions of an archive again, make its tables again, and name what differs.

    The status is 1 if anything does. docs/archive.md says what is compared.
    """
    from pubmill.extras.archive.verification import verify as verified

    found = verified(archive)
    for note in found.notes:
        print(escape_controls(f"note: {note}"))
    for line in found.different[:MOST]:
        print(escape_controls(f"different: {line}"))
    if len(found.different) > MOST:
        print(f"... and {len(found.different) - MOST:,} more")
    done = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in found.counted.items())
    print(f"{archive}: {done or 'nothing could be made again'}")
    print(f"{counted(len(found.different), 'difference')}" if found.different else "nothing differs")
    if found.different:
        raise typer.Exit(1)


VERB = Verb("Data and predictions", verify)
