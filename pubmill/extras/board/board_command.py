"""`pubmill board`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, Results
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.hardware.process_limits import limited
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import counted


def board(
    folder: Annotated[Path, typer.Argument(help="folder of the board")],
    dataset: Annotated[list[str] | None, typer.Option(help="of a new board; may be repeated")] = None,
    results: Results = FULL,
    check: Annotated[
        bool, typer.Option("--check", help="only check and score the submissions, as for a pull request")
    ] = False,
) -> None:
    """Make a leaderboard of a folder of submissions.

    FOLDER/submissions/NAME has the predictions of a system, DATASET.EXT, and card.yaml, its author's
    statement (docs/board.md). They are scored and compared; FOLDER/site is a static site that opens from a
    file. --dataset makes a new board: board.yaml, a README and a workflow file that checks pull requests. A
    submission that is refused is named and left out, and the command ends with status 1.
    """
    root = checkout()
    limited(lambda: make_board(root, folder, dataset or [], results, check))()


def make_board(root: Path, folder: Path, datasets: list[str], results: Path, check: bool) -> None:
    from pubmill.extras.board import board_files as files
    from pubmill.extras.board.board_pages import write_pages
    from pubmill.extras.board.board_scores import board_graph, score_entries
    from pubmill.inspection.converted_datasets import converted_folder, specs_of_results

    known = specs_of_results(root, results)
    if datasets:
        files.write_board(folder, datasets)
    elif not (folder / files.BOARD).is_file():
        raise PubmillError(f"{folder} is no board yet; name its datasets: --dataset bc2gm --dataset ...")
    spec = files.read_board(folder, known.datasets)
    if datasets:
        report_progress(
            f"{folder / files.BOARD} is written; from now on: pubmill board {folder} --results {results}"
        )
    for one in spec.datasets:
        converted_folder(root, results, one)
    entries, refused = files.read_entries(folder, spec)
    entries = files.oldest_first(entries, files.read_history(folder))
    graph = board_graph(folder, spec, entries, root / "specs", known, results)
    refused |= score_entries(graph, entries)
    accepted = [one for one in entries if one.name not in refused]
    if accepted and not check:
        if refused:
            graph = board_graph(folder, spec, accepted, root / "specs", known, results)
        print(write_pages(folder, spec, accepted, graph))
    for name, reason in refused.items():
        report_progress(f"refused: {name}: {reason}")
    report_progress(f"{counted(len(accepted), 'submission')} accepted, {len(refused)} refused")
    if refused:
        raise typer.Exit(1)


VERB = Verb("Data and predictions", board)
