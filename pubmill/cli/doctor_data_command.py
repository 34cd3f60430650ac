"""`pubmill doctor data`."""

import time
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import specs_folder
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import unknown


def check_data(
    datasets: Annotated[list[str] | None, typer.Argument(help="only these; default: all")] = None,
    mirror: Annotated[str | None, typer.Option(help="folder that holds HOST/PATH")] = None,
    local: Annotated[list[str] | None, typer.Option(metavar="KEY=FOLDER", help="your own files")] = None,
    scale: Annotated[str, typer.Option(help="whose specs")] = "full",
    processes: Annotated[int | None, typer.Option(help="default: one per core")] = None,
) -> None:
    """Convert every dataset whose files are available, and compare it with its spec.

    Files are those of a mirror (licensed ones below local/KEY), and your own folders, by the keys of
    `local_files`. Prints a table of counts and published bytes; the status is 1 if anything differs.
    """
    checkout()
    from pubmill.hardware.process_limits import cores
    from pubmill.inspection.converted_datasets import check_name
    from pubmill.inspection.data_check.checks import check_all, plan
    from pubmill.inspection.data_check.data_check_printing import print_outcomes
    from pubmill.messages.terminal_tables import console
    from pubmill.specs import load, scales
    from pubmill.specs.study import Study
    from pubmill.stages import Graph

    if scale not in scales(specs_folder()):
        raise PubmillError(unknown("scale", scale, scales(specs_folder())))
    folders = read_local(local or [])
    study = Study(study="data-check", title="", scale=scale, tables=(), mirror=mirror, local_files=folders)
    graph = Graph(study, load(specs_folder(), scale))
    names = datasets or sorted(graph.specs.datasets)
    for name in names:
        check_name(graph.specs, name)
    began, processes = time.perf_counter(), processes or cores()
    tasks, unchecked = plan(graph, names)
    outcomes = []
    for outcome in check_all(tasks, processes):
        outcomes.append(outcome)
        report_progress(f"{len(outcomes)} of {len(tasks)}: {outcome.dataset}, {outcome.seconds:.1f} s")
    print_outcomes(console(), outcomes, unchecked)
    print(f"{time.perf_counter() - began:.0f} seconds in {processes} processes")
    if not outcomes or any(outcome.faults for outcome in outcomes):
        raise typer.Exit(1)


def read_local(arguments: list[str]) -> dict[str, str]:
    """Read the `KEY=FOLDER` arguments."""
    pairs = [argument.partition("=") for argument in arguments]
    if wrong := ["".join(pair) for pair in pairs if not pair[2]]:
        raise PubmillError(f"--local {wrong[0]}: expected KEY=FOLDER")
    return {key: folder for key, _, folder in pairs}


VERB = Verb("Look", check_data)
