"""`pubmill diff`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import Settings, StudyOption
from pubmill.cli.verbs import Verb
from pubmill.specs.study import DEMO

SIDE = "a record, a folder of runs, a study, PROTOCOL/SETTING, a git commit, or the lock of a corpus"
LOCK = ".lock"


def diff(
    left: Annotated[str, typer.Argument(metavar="A", help=SIDE)],
    right: Annotated[str, typer.Argument(metavar="B", help="the same")],
    study: StudyOption = DEMO,
    config: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show how two commits, studies, settings or sets of runs differ.

    Prints keys of resolved recipes that differ, scores of common runs with an interval of the difference,
    documents that only one side has right, and cost. A setting and a commit belong to --study: its recipes,
    and the records in its results. Two locks of a corpus differ by documents, words and source files. For the
    columns of one table, use compare.
    """
    root = checkout()
    if left.endswith(LOCK) and right.endswith(LOCK):
        _print_days(Path(left), Path(right), as_json)
        return
    from pubmill.inspection.diff.differences import as_json as differences_as_json
    from pubmill.inspection.diff.differences import differences, print_differences
    from pubmill.inspection.diff.sides import Context, side_of
    from pubmill.planning.terminal_tables import console

    context = Context(root, study, config or [])
    found = differences(side_of(left, context), side_of(right, context))
    if as_json:
        print(differences_as_json(found), end="")
    else:
        print_differences(console(), found)


def _print_days(first: Path, second: Path, as_json: bool) -> None:
    """Print how two days of a corpus differ."""
    from pubmill.corpus.lock_differences import lock_differences

    found = lock_differences(first, second)
    print(json.dumps(found._asdict(), indent=1) if as_json else "\n".join(found.lines()))


VERB = Verb("Look", diff)
