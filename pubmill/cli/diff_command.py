"""`pubmill diff`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import Settings, StudyOption
from pubmill.cli.verbs import Verb
from pubmill.specs.study import DEMO, configuration_files
from pubmill.storage.result_paths import paths_of_scale

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
    and the records in its results. Two locks of a corpus differ by documents, words and source files; printed
    with them are the models and tables made from each, and differences of the models' vocabularies. For the
    columns of one table, use compare.
    """
    root = checkout()
    if left.endswith(LOCK) and right.endswith(LOCK):
        _print_days(Path(left), Path(right), as_json, root, study, config or [])
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


def _print_days(
    first: Path, second: Path, as_json: bool, root: Path, study: str, settings: Sequence[str]
) -> None:
    """Print how two days of a corpus differ, and what was made from them in the results of a study and in
    those that the locks are in."""
    from pubmill.corpus.lock_differences import lock_differences
    from pubmill.corpus.locks import read_totals
    from pubmill.inspection.diff.corpus_models import made_from, vocabulary_differences
    from pubmill.inspection.doctor.dataset_diagnoses import merged_config

    found = lock_differences(first, second)
    merged = merged_config(root / "config.yaml", configuration_files(study, root / "studies"), settings)
    own = Path(paths_of_scale(merged["scale"], merged["results"]).results)
    results = [own, *(folder for lock in (first, second) if (folder := results_of(lock)))]
    folders = {folder.resolve(): folder for folder in results}
    made = [made_from(read_totals(lock), folders.values()) for lock in (first, second)]
    vocabularies = vocabulary_differences(*made)
    if as_json:
        days = [{name: list(map(str, paths)) for name, paths in one._asdict().items()} for one in made]
        more = {"made_from_first": days[0], "made_from_second": days[1]}
        pieces = {"vocabularies": [one._asdict() for one in vocabularies]}
        print(json.dumps(found._asdict() | more | pieces, indent=1))
        return
    print("\n".join(found.lines()))
    for which, one in zip(("first", "second"), made, strict=True):
        print("\n".join(one.lines(which)))
    print("".join(f"{one.line()}\n" for one in vocabularies), end="")


def results_of(lock: Path) -> Path | None:
    """Return the results folder that a lock is in (RESULTS/corpora/CORPUS/corpus.lock); None for a copy."""
    corpora = lock.absolute().parents[1]
    return corpora.parent if corpora.name == "corpora" else None


VERB = Verb("Look", diff)
