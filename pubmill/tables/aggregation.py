"""Aggregate records and published values into the cells of a table.

No average is taken over fewer runs than expected. Records made differently must not share a row; they are
refused with an error that names both.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record, read_record
from pubmill.storage.result_paths import run_of
from pubmill.tables.cells import (
    NO_RECORD,
    Cell,
    Column,
    Composite,
    Provenance,
    PublishedValue,
    Row,
    SeedScore,
    Table,
    TableRecipe,
    cell_of_seeds,
    difference,
)
from pubmill.tables.published_values import PublishedValues, check_keys, notes_on_missing, with_recomputed
from pubmill.tables.verdicts import seeds_needed, with_verdicts

NOT_RUN = "not run in this study"
UNLIKE = f"{NOT_RUN}; its records on disk are of other data, weights or versions than those of its row"

RunKey = tuple[str, int]
"""A run's dataset (or a fold of the row's dataset) and seed."""

Records = dict[str, dict[str, dict[RunKey, Record | None]]]
"""Column -> row -> run -> record, or None where the expected file does not exist."""

Place = tuple[str, Record]
"""The path of a record, and the record."""

OF_PREDICTING = ("finetune", "annotate")
"""Stages of a record's versions that make predictions; the others are of data and scoring."""


def scoring_versions(record: Record) -> dict[str, int | list[int]]:
    """Versions of the stages that fine-tuned models and pipelines share."""
    return {stage: version for stage, version in record.versions.items() if stage not in OF_PREDICTING}


Same = Mapping[str, Callable[[Record], object]]
"""Name -> function that returns the property that records must share."""

SAME_SCORING: Same = {
    "split": attrgetter("split"),
    "data hash": attrgetter("data_sha256"),
    "versions": scoring_versions,
}
"""Properties that all records of a row must share, of fine-tuned models and pipelines alike."""
SAME_IN_ROW: Same = {
    "split": attrgetter("split"),
    "data hash": attrgetter("data_sha256"),
    "training data": attrgetter("trained_on_sha256"),
    "versions": attrgetter("versions"),
}
"""Properties that the records of a dataset or fold must share, among fine-tuned models or among pipelines."""
SAME_IN_CELL: Same = {"model weights": attrgetter("model_sha256"), "recipe": attrgetter("recipe")}
"""Properties that all seeds of a model on a dataset, including all its folds, must share."""


def read_records(recipe: TableRecipe, results: Path) -> Records:
    """Read every expected record and check that its content matches its path."""
    rows = {row.key: row for row in recipe.rows}
    return {
        column: {name: _read_runs(recipe, rows[name], results, paths) for name, paths in found.items()}
        for column, found in recipe.records.items()
    }


def _read_runs(
    recipe: TableRecipe, row: Row, results: Path, paths: Iterable[str]
) -> dict[RunKey, Record | None]:
    runs: dict[RunKey, Record | None] = {}
    first: Record | None = None
    for path in (results / path for path in paths):
        key = _run_key(path, row)
        runs[key] = None
        if path.exists():
            record = read_record(path)
            _check_place(path, record, recipe.scale)
            runs[key] = record = _sharing(record, first)
            first = first or record
    return runs


def _sharing(record: Record, first: Record | None) -> Record:
    """Return a copy of a record that shares equal values with another, to save memory over thousands of
    records."""
    if first is None:
        return record
    return record.model_copy(update={k: v for k, v in vars(first).items() if v == getattr(record, k)})


def _run_key(path: Path, row: Row) -> RunKey:
    """Return the dataset and seed of a record by its path; a `PubmillError` if the row has other datasets."""
    run, expected = run_of(path), row.folds or (row.dataset or "",)
    if run.dataset not in expected:
        raise PubmillError(
            f"{path} is a record on {run.dataset}, but the row {row.key} needs {', '.join(expected)}"
        )
    return run.dataset, run.seed


def _check_place(path: Path, record: Record, scale: str) -> None:
    """Check that a record is of the run that its path names, and of the table's scale."""
    place = run_of(path)._asdict() | {"scale": scale}
    wrong = [
        f"{name} is {getattr(record, name)!r}, expected {place[name]!r}"
        for name in ("protocol", "model", "dataset", "setting", "scale", "seed")
        if getattr(record, name) != place[name]
    ]
    if wrong:
        raise PubmillError(
            f"{path} does not belong in this table: {'; '.join(wrong)}. "
            f"Remove the file and make the table again, so that the run is scored anew"
        )


def refuse_mixtures(recipe: TableRecipe, records: Records) -> None:
    """Refuse rows that mix data, splits or stage versions, and cells whose seeds mix weights or recipes.

    Pipelines are not trained here, so they share only the scored data and the scoring with fine-tuned models.
    """
    pipelines = {column.key for column in recipe.columns if column.pipeline}
    for row in recipe.rows:
        in_row: dict[str, tuple[list[Place], list[Place]]] = {}
        for column, found in records.items():
            paths = recipe.records[column].get(row.key, ())
            runs = zip(paths, found.get(row.key, {}).items(), strict=True)
            in_cell = [(path, key, record) for path, (key, record) in runs if record is not None]
            _compare("cell", SAME_IN_CELL, [(path, record) for path, _, record in in_cell])
            for path, (dataset, _), record in in_cell:
                in_row.setdefault(dataset, ([], []))[column in pipelines].append((path, record))
        for fine_tuned, of_pipelines in in_row.values():
            _compare("row", SAME_IN_ROW, fine_tuned)
            _compare("row", SAME_IN_ROW, of_pipelines)
            _compare("row", SAME_SCORING, [*fine_tuned[:1], *of_pipelines[:1]])


def without_unlike(recipe: TableRecipe, records: Records) -> TableRecipe:
    """Return the recipe without records found on disk that must not share a row with the study's own.

    Found records were checked before the study's examples and weights were rebuilt, perhaps with other
    content.
    """
    found = dict.fromkeys(tuple(place.split("/", 1)) for place in recipe.found)
    kept = {
        column: {row: paths for row, paths in rows.items() if (column, row) not in found}
        for column, rows in recipe.records.items()
    }
    missing = dict(recipe.missing)
    for column, name in found:
        row = next((one for one in recipe.rows if one.key == name), None)
        if row is None or name not in recipe.records.get(column, {}):
            continue  # the recipe has only some of the cells, to explain one of them
        tried = kept | {column: {**kept[column], name: recipe.records[column][name]}}
        alone = recipe.model_copy(update={"rows": (row,), "records": tried})
        try:
            refuse_mixtures(alone, _of_recipe(alone, records))
            kept = tried
        except PubmillError:
            missing[f"{column}/{name}"] = UNLIKE
    return recipe.model_copy(update={"records": kept, "missing": missing})


def _of_recipe(recipe: TableRecipe, records: Records) -> Records:
    """Select the records that a recipe names."""
    return {
        column: {row: records[column][row] for row in rows if row in records.get(column, {})}
        for column, rows in recipe.records.items()
    }


def _compare(where: str, same: Same, places: Sequence[Place]) -> None:
    """Refuse records that differ from the first one in a property that all must share."""
    for path, record in places[1:]:
        first_path, first = places[0]
        pairs = {name: (of(first), of(record)) for name, of in same.items()}
        mixed = [f"{name}: {_difference(*pair)}" for name, pair in pairs.items() if pair[0] != pair[1]]
        if mixed:
            raise PubmillError(
                f"{first_path} and {path} must not share one {where}; they differ in {'; '.join(mixed)}. "
                f"Rebuild the older one (remove it and request the table)"
            )


def _difference(one: object, other: object) -> str:
    """Describe two different values; for mappings, only the keys that differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
        return ", ".join(f"{key} {one.get(key)} against {other.get(key)}" for key in keys)
    return f"{one} against {other}"


def build(recipe: TableRecipe, published: PublishedValues, records: Records) -> Table:
    """Build the table: every cell, the composites, and the provenance of its records."""
    recipe = without_unlike(recipe, records)
    records = _of_recipe(recipe, records)
    refuse_mixtures(recipe, records)
    check_keys(recipe, published)
    cells = _cells(recipe, records, published)
    for column in recipe.columns:
        _add_composites(recipe, column, cells[column.key], published)
    cells = with_verdicts(recipe, cells)
    heading = recipe.model_dump(exclude={"records", "found", "missing", "versions", "composites", "left_out"})
    pipelines = [column.model for column in recipe.columns if column.pipeline and column.model]
    known = [r for found in records.values() for seeds in found.values() for r in seeds.values() if r]
    return Table(
        **heading,
        composites=tuple(composite.row for composite in recipe.composites),
        cells=cells,
        silences=notes_on_missing(recipe, published),
        seeds_needed=seeds_needed(recipe, cells),
        provenance=provenance(known, pipelines),
    )


def _cells(recipe: TableRecipe, records: Records, published: PublishedValues) -> dict[str, dict[str, Cell]]:
    """Build the cells of all columns; those with runs first, because the others are computed from them."""
    cells: dict[str, dict[str, Cell]] = {}
    columns = {column.key: column for column in recipe.columns}
    for column in sorted(recipe.columns, key=lambda column: bool(column.best_of or column.drop)):
        cells[column.key] = found = {}
        for row in recipe.rows:
            value = published.of(column, row)

            def other(key: str, row: Row = row) -> tuple[str, Cell]:
                return columns[key].label, cells[key][row.key]

            if column.best_of:
                found[row.key] = best_cell([*map(other, column.best_of)], value)
            elif column.drop:
                found[row.key] = drop_cell(other(column.drop.start), [*map(other, column.drop.of)], value)
            else:
                runs = records.get(column.key, {}).get(row.key, {})
                found[row.key] = _cell(recipe, column, row, runs, value)
    return cells


def _add_composites(
    recipe: TableRecipe, column: Column, found: dict[str, Cell], published: PublishedValues
) -> None:
    printed = {row.key: published.of(column, row) for row in recipe.rows}
    for composite in recipe.composites:
        value = with_recomputed(composite, published.of(column, composite.row), printed)
        found[composite.name] = composite_cell(composite, found, value)


def _cell(
    recipe: TableRecipe,
    column: Column,
    row: Row,
    runs: Mapping[RunKey, Record | None],
    published: PublishedValue | None,
) -> Cell:
    paths = recipe.records[column.key][row.key] if runs else ()
    places = zip(paths, runs.items(), strict=True)
    seeds = [_seed_score(path, key, record, row) for path, (key, record) in places]
    named = (recipe.missing.get(key) for key in (f"{column.key}/{row.key}", column.key, row.key))
    reason = next(filter(None, named), NOT_RUN)
    return cell_of_seeds(seeds, len(seeds), reason, published, recipe.aggregate)


def _seed_score(path: str, key: RunKey, record: Record | None, row: Row) -> SeedScore:
    (dataset, seed), metric = key, row.metric
    fold = dataset if row.folds else ""
    if record is None or record.failed is not None:
        cause = record.failed if record else NO_RECORD
        seconds = record.seconds if record else None
        return SeedScore(seed=seed, value=None, failed=cause, fold=fold, record=path, seconds=seconds)
    metrics = record.metrics or {}
    if metric not in metrics:
        raise PubmillError(
            f"the record of {record.model} on {dataset}, seed {seed}, has no {metric}; "
            f"it has {', '.join(sorted(metrics))}. Score the predictions again"
        )
    score = 100 * metrics[metric]
    return SeedScore(seed=seed, value=score, failed=None, fold=fold, record=path, seconds=record.seconds)


def composite_cell(composite: Composite, cells: Mapping[str, Cell], published: PublishedValue | None) -> Cell:
    """The cell of a composite: the mean over groups of the group means, None unless every dataset is
    complete."""
    values = {name: cells[name].value for group in composite.groups.values() for name in group}
    known = {name: value for name, value in values.items() if value is not None}
    done, whole = len(known), len(known) == len(values)
    value = composite.mean(known) if whole else None
    return Cell(
        value=value,
        spread=None,
        n=done,
        expected=len(values),
        seeds=(),
        missing=None if whole else f"no composite: not all of its {len(values)} datasets have a score",
        published=published,
        difference=difference(value, published),
    )


def best_cell(parts: Sequence[tuple[str, Cell]], published: PublishedValue | None) -> Cell:
    """The cell with the best value of other columns' cells (given with labels); None unless all have a
    value."""
    return _of_cells("best", parts, published, max)


def drop_cell(
    start: tuple[str, Cell], parts: Sequence[tuple[str, Cell]], published: PublishedValue | None
) -> Cell:
    """The cell with the lowest value of other columns minus that of `start`; None unless all have a value."""
    return _of_cells("drop", [start, *parts], published, lambda values: min(values[1:]) - values[0])


def _of_cells(
    what: str,
    parts: Sequence[tuple[str, Cell]],
    published: PublishedValue | None,
    together: Callable[[list[float]], float],
) -> Cell:
    values = [cell.value for _, cell in parts if cell.value is not None]
    value = together(values) if len(values) == len(parts) else None
    lacking = [label for label, cell in parts if cell.value is None]
    return Cell(
        value=value,
        spread=None,
        n=len(values),
        expected=len(parts),
        seeds=(),
        missing=f"no {what}: no score of {' and '.join(lacking)}" if lacking else None,
        published=published,
        difference=difference(value, published),
    )


def provenance(records: Sequence[Record], pipelines: Sequence[str] = ()) -> Provenance:
    """Summarise how records were made, each distinct value once; `pipelines`: models that were not
    fine-tuned."""
    packages: dict[str, set[str]] = {}
    called: dict[str, set[str]] = {}
    for record in records:
        for name, version in record.packages.items():
            packages.setdefault(name, set()).add(version)
        if record.model in pipelines:
            called.setdefault(record.model, set()).add(_pipeline(record))
    trained = [record for record in records if record.model not in pipelines]
    return Provenance(
        runs=len(trained),
        failed=sum(record.failed is not None for record in trained),
        seconds=sum(record.seconds for record in trained),
        commits=tuple(sorted({record.commit for record in records if record.commit})),
        packages={name: tuple(sorted(found)) for name, found in sorted(packages.items())},
        hardware=tuple(sorted({machine(record.hardware) for record in records})),
        pipelines={model: tuple(sorted(found)) for model, found in sorted(called.items())},
    )


def _pipeline(record: Record) -> str:
    """Return a pipeline's own name and version, with the hash of its files."""
    said = record.recipe.get("pipeline", {})
    named = (said.get("lang"), said.get("name"), said.get("version"))
    return f"{' '.join(str(part) for part in named if part)} (SHA-256 {record.model_sha256})"


def machine(hardware: Mapping[str, object]) -> str:
    """Return one line for a machine described by `pubmill.hardware.provenance`: its GPUs, or its
    processor."""
    gpus = hardware.get("gpus")
    if isinstance(gpus, list) and gpus:
        return ", ".join(f"{gpus.count(gpu)} x {gpu}" for gpu in dict.fromkeys(gpus))
    return f"{hardware.get('cpu', 'unknown')}, {hardware.get('cores', '?')} cores"
