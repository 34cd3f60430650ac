"""`pubmill diff`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.default_study import study_of_sides
from pubmill.cli.studies import AnyStudy, Settings, configuration, paths, study_files
from pubmill.cli.verbs import Verb
from pubmill.specs.study import DEMO

SIDE = "a record, a folder of runs, a study, PROTOCOL/SETTING, a git commit, or the lock of a corpus"
LOCK = ".lock"


def diff(
    left: Annotated[str, typer.Argument(metavar="A", help=SIDE)],
    right: Annotated[str, typer.Argument(metavar="B", help="the same")],
    study: AnyStudy = None,
    config: Settings = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show how two commits, studies, settings or sets of runs differ.

    Prints keys of resolved recipes that differ, scores of common runs with an interval of the difference,
    documents that only one side has right, and cost. A setting and a commit belong to --study: its recipes,
    and the records in its results. Two locks of a corpus differ by documents, words and source files; printed
    with them are the models and tables made from each, and differences of the models' vocabularies. For the
    columns of one table, use compare.
    """
    root = checkout()
    if left.endswith(LOCK) and right.endswith(LOCK):
        results = Path(paths(configuration(study_files(study or DEMO), config)).results)
        _print_days(Path(left), Path(right), as_json, results)
        return
    from pubmill.inspection.diff.differences import as_json as differences_as_json
    from pubmill.inspection.diff.differences import differences, print_differences
    from pubmill.inspection.diff.sides import Context, side_of
    from pubmill.planning.terminal_tables import console

    context = Context(root, study_of_sides(study, (left, right), config), config or [])
    compared = differences(side_of(left, context), side_of(right, context))
    if as_json:
        print(differences_as_json(compared), end="")
    else:
        print_differences(console(), compared)


def _print_days(first: Path, second: Path, as_json: bool, results: Path) -> None:
    """Print how two days of a corpus differ, and what was made from them in these results and the locks'."""
    from pubmill.corpus.locks import lock_differences, read_totals
    from pubmill.inspection.diff.corpus_models import made_from, results_folders, vocabulary_differences

    compared = lock_differences(first, second)
    folders = results_folders(results, (first, second))
    made = [made_from(read_totals(lock), folders) for lock in (first, second)]
    vocabularies = vocabulary_differences(*made)
    if as_json:
        days = [{name: list(map(str, paths)) for name, paths in one._asdict().items()} for one in made]
        more = {"made_from_first": days[0], "made_from_second": days[1]}
        pieces = {"vocabularies": [one._asdict() for one in vocabularies]}
        print(json.dumps(compared._asdict() | more | pieces, indent=1))
        return
    print("\n".join(compared.lines()))
    for which, one in zip(("first", "second"), made, strict=True):
        print("\n".join(one.lines(which)))
    print("".join(f"{one.line()}\n" for one in vocabularies), end="")


VERB = Verb("Look", diff)
