"""`pubmill verify`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.verbs import Verb
from pubmill.messages.wording import counted, escape_controls


def verify(
    archive: Annotated[Path, typer.Argument(help="STUDY.archive.zip of `pubmill run STUDY archive`")],
) -> None:
    """Make the numbers of an archive again, and name what differs.

    Records are scored and tables made again. The status is 1 if anything differs. docs/archive.md says more.
    """
    from pubmill.extras.archive.verification import verify as verified

    found = verified(archive)
    for line in (*(f"note: {one}" for one in found.notes), *(f"different: {one}" for one in found.different)):
        print(escape_controls(line))
    print(f"{archive}: " + ", ".join(f"{number:,} {name}" for name, number in found.counted.items()))
    print(counted(len(found.different), "difference") if found.different else "nothing differs")
    if found.different:
        raise typer.Exit(1)


VERB = Verb("Data and predictions", verify)
