"""Records, table and comparisons of a board, made in one process and kept below its folder: the
files that a study with these submissions has. A submission whose files, recipe and datasets are unchanged is
not scored again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.board.board_files import Entry
from pubmill.extras.board.board_graph import COLUMN, TABLE
from pubmill.messages.progress import report_progress
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import write_items
from pubmill.metrics.records import score_run, write_record
from pubmill.predictions.supplied import report, supply
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.report.table_rendering import COMPARISON_RENDERERS, TABLE_RENDERERS
from pubmill.stages import Graph
from pubmill.storage.checksums import write_formats, write_predictions
from pubmill.storage.files import read_json, sha256, write_json
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import RELATIVE
from pubmill.tables.aggregation import finished_table
from pubmill.tables.cells import Table
from pubmill.tables.comparisons import Comparisons, comparisons

SCORED = "scored.json"
"""File of the SHA-256 of the predictions behind each record."""


class BoardScores(NamedTuple):
    """The scores of a board."""

    table: Table
    compared: Comparisons


def score_entries(graph: Graph, entries: Sequence[Entry]) -> dict[str, str]:
    """Score the new and changed submissions; return name -> reason for each one that is refused. Of two with
    the same predictions, the later one in `entries` is refused. All submissions are scored on one dataset
    before the next, so that the examples of each are read once."""
    kept, refused = Path(graph.results) / SCORED, dict[str, str]()
    scored: dict[str, str] = read_json(kept) if kept.is_file() else {}
    for dataset in dict.fromkeys(dataset for entry in entries for dataset in entry.files):
        for entry in entries:
            if entry.name in refused:
                continue
            try:
                others = [one for one in entries if one is not entry and one.name not in refused]
                for record, content in _score_dataset(graph, entry, dataset, scored, others):
                    scored[record] = content
                    write_json(kept, scored)
            except PubmillError as error:
                refused[entry.name] = str(error)
    return refused


def _score_dataset(
    graph: Graph, entry: Entry, dataset: str, scored: Mapping[str, str], others: Iterable[Entry]
) -> Iterator[tuple[str, str]]:
    """Score the files of a submission for a dataset; yield the record and the SHA-256 of each file."""
    model, known = f"{COLUMN}{entry.name}", [entry, *others]
    for seed, path in entry.files.get(dataset, {}).items():
        content = sha256(path)
        record = RELATIVE.record(*graph.pipelines.run(model, dataset, seed))
        if scored.get(record) != content or not graph.records.is_current(record):
            _score(graph, model, dataset, seed, path, _predictions(graph, known, dataset))
            yield record, content


def _predictions(graph: Graph, entries: Iterable[Entry], dataset: str) -> list[Path]:
    """Return the predictions for a dataset that were read of these submissions; files of others, such as a
    submission under its earlier name, may still be there."""
    runs = (
        graph.pipelines.run(f"{COLUMN}{entry.name}", dataset, seed)
        for entry in entries
        for seed in entry.files.get(dataset, {})
    )
    return [path for run in runs if (path := Path(graph.paths.predictions(*run))).is_file()]


def _score(graph: Graph, model: str, dataset: str, seed: int, path: Path, known: Iterable[Path]) -> None:
    """Read a file of predictions and score it; nothing is written of one that is refused."""
    run = graph.pipelines.run(model, dataset, seed)
    output, record = Path(graph.paths.predictions(*run)), Path(graph.paths.record(*run))
    folder = Path(graph.paths.dataset(dataset))
    keep_private([folder, path])
    reading = graph.pipelines.recipe(model, dataset)
    assert isinstance(reading, SuppliedRecipe)
    submission, recipe = supply(reading, path, folder, [one for one in known if one != output])
    if lost := submission.reading.lost:
        count = f"{len(lost)} of {submission.reading.spans}"
        report_progress(f"{path}: {count} spans fit no words, and count as false positives")
    record.unlink(missing_ok=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_predictions(output, submission.lines, report(submission, recipe, folder, model, seed))
    scoring = graph.records.recipe(graph.pipelines.run(model, dataset)[0], seed)
    examples, training = graph.paths.examples(dataset, scoring.split), Path(graph.paths.training(*run))
    made, items = score_run(scoring, SCORERS[scoring.kind], output, Path(examples), training)
    write_items(Path(graph.paths.contributions(str(record))), items)
    write_record(record, made)


def board_scores(graph: Graph, specs: Path) -> BoardScores:
    """Return the table of scored submissions, and their comparisons."""
    results, published = Path(graph.results), specs / f"tables/{TABLE}.published.csv"
    table = finished_table(graph.tables.recipe(TABLE), published, results)
    return BoardScores(table, comparisons(table, results))


def write_results(graph: Graph, scores: BoardScores) -> None:
    """Write the files of table and comparisons."""
    Path(graph.paths.table(TABLE)).parent.mkdir(parents=True, exist_ok=True)
    write_formats(Path(graph.paths.table(TABLE)), scores.table, TABLE_RENDERERS)
    write_formats(Path(graph.paths.comparisons(TABLE)), scores.compared, COMPARISON_RENDERERS)
