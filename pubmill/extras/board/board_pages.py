"""The site of a board: a page with all submissions, and pages to compare two of them by example."""

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pubmill.examples.kinds import KINDS, Example, kept_examples
from pubmill.examples.tagging import to_mentions
from pubmill.extras.board.board_files import (
    BoardSpec,
    Entry,
    new_events,
    read_history,
    write_history,
    write_text,
)
from pubmill.extras.board.board_scores import COLUMN, TABLE, WORK
from pubmill.messages.wording import counted
from pubmill.metrics import is_right, plain_prediction
from pubmill.metrics.records import read_predictions
from pubmill.report.rendering import SORTING, environment, script_digest
from pubmill.report.table_rendering import COMPARISON_RENDERERS, TABLE_RENDERERS
from pubmill.stages import Graph
from pubmill.storage.checksums import write_formats
from pubmill.storage.privacy import PUBLIC
from pubmill.tables.aggregation import finished_table
from pubmill.tables.cells import Cell, Table
from pubmill.tables.comparisons import comparisons

TEMPLATES = Path(__file__).with_name("templates")
FILTER = (TEMPLATES / "board_filter.js").read_text(encoding="utf-8")
EXAMPLES = (TEMPLATES / "board_examples.js").read_text(encoding="utf-8")
COSTS = {
    "parameters": "Parameters",
    "prompt_tokens": "Tokens read",
    "answer_tokens": "Tokens written",
    "gpu_hours": "GPU-hours",
    "price": "Price",
}
"""Field of a cost -> its heading."""


@dataclass(frozen=True)
class BoardRow:
    """A submission on the page. `cells`: of its datasets, in the board's order; `mean`: of all of them, which
    has no value where one is missing."""

    entry: Entry
    mean: Cell
    cells: tuple[Cell, ...]


def write_pages(folder: Path, spec: BoardSpec, entries: Sequence[Entry], graph: Graph) -> Path:
    """Write the results, the history and the site of scored submissions; return its first page."""
    published = folder / WORK / f"specs/tables/{TABLE}.published.csv"
    table = finished_table(graph.tables.recipe(TABLE), published, Path(graph.results))
    compared = comparisons(table, Path(graph.results))
    Path(graph.paths.table(TABLE)).parent.mkdir(parents=True, exist_ok=True)
    write_formats(Path(graph.paths.table(TABLE)), table, TABLE_RENDERERS)
    write_formats(Path(graph.paths.comparisons(TABLE)), compared, COMPARISON_RENDERERS)
    rows = board_rows(entries, spec, table)
    known = read_history(folder)
    scored = {
        row.entry.name: {
            dataset: round(cell.value, 4)
            for dataset, cell in zip(spec.datasets, row.cells, strict=True)
            if cell.value is not None
        }
        for row in rows
    }
    events = new_events(known, entries, scored, time.strftime("%Y-%m-%d"))
    history, site = [*known, *events], folder / "site"
    site.mkdir(exist_ok=True)
    predicted = {dataset for entry in entries for dataset in entry.files}
    public = {name for name, one in graph.specs.datasets.items() if one.access == PUBLIC}
    pages = {one: f"examples-{one}.html" for one in spec.datasets if one in predicted & public}
    for dataset, name in pages.items():
        write_text(site / name, _examples_page(spec, rows, graph, dataset))
    for stem, name in ((graph.paths.table(TABLE), "scores"), (graph.paths.comparisons(TABLE), "comparisons")):
        shutil.copyfile(f"{stem}.html", site / f"{name}.html")
    stated = {name for row in rows for name, value in row.entry.card.cost if value is not None}
    values = {
        "spec": spec,
        "rows": rows,
        "datasets": table.rows,
        "costs": {name: text for name, text in COSTS.items() if name in stated},
        "history": list(reversed(history)),
        "pages": pages,
    }
    write_text(site / "index.html", _page("board.html.j2", SORTING + FILTER, values))
    wanted = {"index.html", "scores.html", "comparisons.html", *pages.values()}
    for path in site.glob("*.html"):
        if path.name not in wanted:
            path.unlink()
    write_history(folder, history)
    return site / "index.html"


def board_rows(entries: Sequence[Entry], spec: BoardSpec, table: Table) -> list[BoardRow]:
    """Return the submissions with their scores: the complete ones first, the best mean first."""
    cells = {(column.key, row.key): cell for row, column, cell in table.read()}
    rows = []
    for entry in entries:
        key = f"{COLUMN}{entry.name}"
        own = tuple(cells[key, dataset] for dataset in spec.datasets)
        mean = cells.get((key, "mean"), own[0])
        rows.append(BoardRow(entry, mean, own))
    return sorted(rows, key=lambda row: (row.mean.value is None, -(row.mean.value or 0.0), row.entry.name))


def _examples_page(spec: BoardSpec, rows: Sequence[BoardRow], graph: Graph, dataset: str) -> str:
    """Return the page that compares two submissions by the examples of a public dataset."""
    known = graph.specs.datasets[dataset]
    models = [row.entry for row in rows if dataset in row.entry.files]
    split = graph.supplied.split(dataset)
    examples = kept_examples(Path(graph.paths.examples(dataset, split)), KINDS[known.kind])
    data = {
        "examples": [[one.id, shown_text(one)] for one in examples],
        "submissions": [
            {"label": entry.card.label, "answers": list(_answers(graph, entry, dataset, examples))}
            for entry in models
        ],
    }
    values = {
        "spec": spec,
        "label": known.label or dataset,
        "split": split,
        "number": counted(len(examples), "example"),
        "data": Markup(json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")),
    }
    return _page("board_examples.html.j2", EXAMPLES, values)


def _page(template: str, script: str, values: dict[str, object]) -> str:
    shown = values | {"script": Markup(script), "script_hash": script_digest(script)}
    return environment(None, TEMPLATES).get_template(template).render(shown)


def _answers(
    graph: Graph, entry: Entry, dataset: str, examples: Sequence[Example]
) -> Iterator[tuple[int, str]]:
    """Yield, for each example and the first seed, 1 or 0 (right or wrong) and the prediction as text."""
    run = graph.supplied.run(f"{COLUMN}{entry.name}", dataset, min(entry.files[dataset]))
    predicted = read_predictions(Path(graph.paths.predictions(*run)), examples)
    for example, one in zip(examples, predicted, strict=True):
        said = plain_prediction(one)
        yield int(is_right(example, said)), shown_prediction(example, said)


def shown_text(example: Any) -> str:
    if hasattr(example, "words"):
        return " ".join(example.words)
    if hasattr(example, "question"):
        return f"{example.question} {example.context}"
    text = " ".join(text for text in (example.text, getattr(example, "text_pair", None)) if text)
    related = () if hasattr(example, "pairs") else getattr(example, "entities", None) or ()
    arguments = [example.text[one.start : one.end] for one in related]
    return f"{' and '.join(arguments)} in: {text}" if arguments else text


def shown_prediction(example: Any, predicted: Any) -> str:
    """Return a prediction as text: mentions by their words, relations by their concepts, the best answer to a
    question."""
    if hasattr(example, "words"):
        mentions = predicted if hasattr(example, "spans") else to_mentions(predicted)
        texts = (
            f"{kind}: {text}" if kind else text
            for start, end, kind in mentions
            if (text := " ".join(example.words[start:end]))
        )
        return "; ".join(texts) or "no mention"
    if hasattr(example, "answers"):
        return str(predicted[0])
    if hasattr(example, "pairs"):
        shown = (f"{', '.join([label, *novelty])}: {a} and {b}" for a, b, label, *novelty in predicted)
        return "; ".join(shown) or "no relation"
    return ", ".join(map(str, predicted)) or "no label" if isinstance(predicted, list) else str(predicted)
