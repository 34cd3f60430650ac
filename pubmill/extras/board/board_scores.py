"""A board as a study: its submissions are models with supplied predictions, its datasets rows of a table.
Their records are made in one process and kept below its folder; a submission whose files, recipe and datasets
are unchanged is not scored again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from pubmill.errors import PubmillError
from pubmill.extras.board.board_files import SUBMISSIONS, BoardSpec, Entry, write_text
from pubmill.messages.installation import link_files
from pubmill.messages.progress import report_progress
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import write_items
from pubmill.metrics.records import score_run, write_record
from pubmill.new_specs.new_table import HEADING
from pubmill.predictions.supplied import report, supply
from pubmill.recipes.reading import as_values
from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.stages.supplied_predictions import SuppliedPredictions
from pubmill.storage.checksums import write_predictions
from pubmill.storage.files import read_json, sha256, write_json
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import RELATIVE, RunKey, paths_of_scale

TABLE = "board/table01"
WORK = ".board"
"""The folder below a board in which its records are kept."""
COLUMN = "submission-"
"""Prefix of the names of submissions' models, which keeps them apart from pubmill's models."""
SCORED = "scored.json"
"""File of the SHA-256 of the predictions behind each record."""


def board_graph(
    folder: Path, spec: BoardSpec, entries: Sequence[Entry], specs: Path, known: Specs, results: Path
) -> Graph:
    """Write the specs of a board's submissions and table, and return its graph. `specs`, `known`: the folder
    of those of pubmill, and what is in it; `results`: the folder of a scale with the board's datasets, which
    are linked."""
    work, scale = folder.absolute() / WORK, results.name
    table, models = Path("tables", f"{TABLE}.yaml"), Path("models")
    own = {table: _yaml(_table(spec, entries, known))}
    own |= {models / f"{COLUMN}{entry.name}.yaml": _yaml(_model(entry)) for entry in entries}
    own[table.with_suffix(".published.csv")] = f"{HEADING}\n"
    for name, text in own.items():
        path = work / "own" / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
    files = (path for path in specs.rglob("*") if path.is_file())
    wanted = {f"specs/{path.relative_to(specs)}": path.absolute() for path in files}
    wanted |= {f"specs/{name}": work / "own" / name for name in own}
    paths = paths_of_scale(scale, "results")
    wanted |= {paths.dataset(one): (results / RELATIVE.dataset(one)).absolute() for one in spec.datasets}
    link_files(work, wanted, ["specs"])
    study = Study(
        study="board",
        title=spec.title,
        scale=scale,
        tables=(TABLE,),
        results=str(work / "results"),
        local_files={f"{COLUMN}{one.name}": str(folder / SUBMISSIONS / one.name) for one in entries},
    )
    return Graph(study, load(work / "specs", scale))


def _yaml(values: Mapping[str, object]) -> str:
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


def _model(entry: Entry) -> dict[str, object]:
    system = {name: value for name, value in as_values(entry.card.system).items() if value is not None}
    return {
        "name": f"{COLUMN}{entry.name}",
        "label": entry.card.label,
        "citation": "the submission's card",
        "lowercase": False,
        "weights": {
            "kind": "predictions",
            "local": f"{COLUMN}{entry.name}",
            "system": system,
            "mapping": entry.card.mapping,
        },
    }


def _table(spec: BoardSpec, entries: Sequence[Entry], known: Specs) -> dict[str, object]:
    mean = {"name": "mean", "label": "Mean", "groups": {"datasets": list(spec.datasets)}}
    return {
        "name": "table01",
        "kind": "results",
        "paper": "board",
        "title": spec.title,
        "caption": "Scores on test of the board's submissions; nothing is trained here.",
        "citation": "the board's submissions",
        "protocol": "blurb",
        "setting": "standard",
        "columns": [{"model": f"{COLUMN}{one.name}", "label": one.card.label} for one in entries],
        "rows": [
            {"dataset": one, "label": known.datasets[one].label or one, "group": known.datasets[one].task}
            for one in spec.datasets
        ],
        "composites": [mean] if len(spec.datasets) > 1 else [],
    }


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
            # Files of others, such as a submission under its earlier name, may still be there.
            known = [run for one in entries if one.name not in refused for run, _ in _runs(one, dataset)]
            try:
                for run, path in _runs(entry, dataset):
                    content, record = sha256(path), RELATIVE.record(*run)
                    if scored.get(record) != content or not graph.records.is_current(record):
                        _score(graph, run, path, [one for one in known if one != run])
                        scored[record] = content
                        write_json(kept, scored)
            except PubmillError as error:
                refused[entry.name] = str(error)
    return refused


def _runs(entry: Entry, dataset: str) -> Iterator[tuple[tuple[RunKey, int], Path]]:
    """Yield the run and seed of each file of a submission for a dataset, and the file."""
    run, _ = SuppliedPredictions.run(f"{COLUMN}{entry.name}", dataset)
    for seed, path in entry.files.get(dataset, {}).items():
        yield (run, seed), path


def _score(graph: Graph, run: tuple[RunKey, int], path: Path, others: Iterable[tuple[RunKey, int]]) -> None:
    """Read a file of predictions and score it; nothing is written of one that is refused."""
    output, record = Path(graph.paths.predictions(*run)), Path(graph.paths.record(*run))
    (_, model, dataset, _), seed = run
    folder = Path(graph.paths.dataset(dataset))
    keep_private([folder, path])
    reading = graph.supplied.recipe(model, dataset)
    known = [Path(graph.paths.predictions(*one)) for one in others]
    submission, recipe = supply(reading, path, folder, [one for one in known if one.is_file()])
    if lost := submission.reading.lost:
        count = f"{len(lost)} of {submission.reading.spans}"
        report_progress(f"{path}: {count} spans fit no words, and count as false positives")
    record.unlink(missing_ok=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_predictions(output, submission.lines, report(submission, recipe, folder, model, seed))
    scoring = graph.records.recipe(*run)
    examples, training = graph.paths.examples(dataset, scoring.split), Path(graph.paths.training(*run))
    made, items = score_run(scoring, SCORERS[scoring.kind], output, Path(examples), training)
    write_items(Path(graph.paths.contributions(str(record))), items)
    write_record(record, made)
