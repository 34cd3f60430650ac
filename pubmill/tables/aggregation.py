"""From records and published values to the cells of a table.

Nothing is averaged over less than what was expected, and nothing that was made differently stands in
one row: such records are refused, both named.
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
from pubmill.tables.published_values import Published, refuse_strangers, silences, with_recomputed
from pubmill.tables.verdicts import seeds_needed, with_verdicts

NOT_RUN = "not run in this study"
UNLIKE = f"{NOT_RUN}; its records on disk are of other data, weights or versions than those of its row"

RunKey = tuple[str, int]
"""A run's dataset, which may be a fold of the row's, and its seed."""

Records = dict[str, dict[str, dict[RunKey, Record | None]]]
"""column -> row -> run -> record; None where the expected file does not exist."""

Place = tuple[str, Record]
"""A record and the path where it was found."""

OF_PREDICTING = ("finetune", "annotate")
"""The versions of a record that are of how its predictions were made; the others are of data and scoring."""


def scoring_versions(record: Record) -> dict[str, int | list[int]]:
    """The versions of what was done alike to a fine-tuned model's predictions and to a pipeline's."""
    return {stage: version for stage, version in record.versions.items() if stage not in OF_PREDICTING}


Same = Mapping[str, Callable[[Record], object]]
"""Name -> what some records must share."""

SAME_SCORING: Same = {
    "split": attrgetter("split"),
    "data hash": attrgetter("data_sha256"),
    "versions": scoring_versions,
}
"""What the records of fine-tuned models and of pipelines in a row must share."""
SAME_IN_ROW: Same = {
    "split": attrgetter("split"),
    "data hash": attrgetter("data_sha256"),
    "training data": attrgetter("trained_on_sha256"),
    "versions": attrgetter("versions"),
}
"""What all records of a dataset, or of one fold of it, must share, among fine-tuned models or pipelines."""
SAME_IN_CELL: Same = {"model weights": attrgetter("model_sha256"), "recipe": attrgetter("recipe")}
"""What the seeds of a model on a dataset, and on all its folds, must share."""


def read_records(recipe: TableRecipe, results: Path) -> Records:
    """Read every expected record and check that each is what its place says."""
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
    """The record, what it has in common with another held once: a table may be of thousands."""
    if first is None:
        return record
    return record.model_copy(update={k: v for k, v in vars(first).items() if v == getattr(record, k)})


def _run_key(path: Path, row: Row) -> RunKey:
    """Return the dataset and seed of a record by its path; a `PubmillError` if the row has other datasets."""
    run, expected = run_of(path), row.folds or (row.dataset or "",)
    if run.dataset not in expected:
        raise PubmillError(f"{path} is of {run.dataset}, but the row {row.key} is of {', '.join(expected)}")
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
    """Refuse a row that is not of the same data, split and stage versions throughout, and a cell whose
    seeds are not of the same weights and recipe.

    A pipeline was not trained here: with fine-tuned models it shares what it is scored on, and how.
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
        for fine_tuned, as_they_are in in_row.values():
            _compare("row", SAME_IN_ROW, fine_tuned)
            _compare("row", SAME_IN_ROW, as_they_are)
            _compare("row", SAME_SCORING, [*fine_tuned[:1], *as_they_are[:1]])


def without_unlike(recipe: TableRecipe, records: Records) -> TableRecipe:
    """The recipe without the records found on disk that must not stand beside those which the study made.

    They were compared with examples and weights before these were made anew, perhaps with other content.
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
            continue  # a recipe of a few cells, to explain one of them
        tried = kept | {column: {**kept[column], name: recipe.records[column][name]}}
        alone = recipe.model_copy(update={"rows": (row,), "records": tried})
        try:
            refuse_mixtures(alone, _of_recipe(alone, records))
            kept = tried
        except PubmillError:
            missing[f"{column}/{name}"] = UNLIKE
    return recipe.model_copy(update={"records": kept, "missing": missing})


def _of_recipe(recipe: TableRecipe, records: Records) -> Records:
    """Those of some records that a recipe names."""
    return {
        column: {row: records[column][row] for row in rows if row in records.get(column, {})}
        for column, rows in recipe.records.items()
    }


def _compare(where: str, same: Same, places: Sequence[Place]) -> None:
    """Refuse records that differ from the first of them in what must be the same."""
    for path, record in places[1:]:
        first_path, first = places[0]
        pairs = {name: (of(first), of(record)) for name, of in same.items()}
        mixed = [f"{name}: {_difference(*pair)}" for name, pair in pairs.items() if pair[0] != pair[1]]
        if mixed:
            raise PubmillError(
                f"{first_path} and {path} must not stand in one {where}; they differ in {'; '.join(mixed)}. "
                f"Make the older one again (remove it and ask for the table)"
            )


def _difference(one: object, other: object) -> str:
    """Two values in words; of two mappings only the keys that differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
        return ", ".join(f"{key} {one.get(key)} against {other.get(key)}" for key in keys)
    return f"{one} against {other}"


def build(recipe: TableRecipe, published: Published, records: Records) -> Table:
    """Make the table: every cell, the composites, and with what its records were made."""
    recipe = without_unlike(recipe, records)
    records = _of_recipe(recipe, records)
    refuse_mixtures(recipe, records)
    refuse_strangers(recipe, published)
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
        silences=silences(recipe, published),
        seeds_needed=seeds_needed(recipe, cells),
        provenance=provenance(known, pipelines),
    )


def _cells(recipe: TableRecipe, records: Records, published: Published) -> dict[str, dict[str, Cell]]:
    """The cells of all columns: those with runs first, as others are made of them."""
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
    recipe: TableRecipe, column: Column, found: dict[str, Cell], published: Published
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
            f"it has {sorted(metrics)}. Score the predictions again"
        )
    score = 100 * metrics[metric]
    return SeedScore(seed=seed, value=score, failed=None, fold=fold, record=path, seconds=record.seconds)


def composite_cell(composite: Composite, cells: Mapping[str, Cell], published: PublishedValue | None) -> Cell:
    """The mean over groups of the group means; None unless every dataset of every group is complete."""
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
    """The best value of other columns' cells, each with its label; None unless all of them have one."""
    return _of_cells("best", parts, published, max)


def drop_cell(
    start: tuple[str, Cell], parts: Sequence[tuple[str, Cell]], published: PublishedValue | None
) -> Cell:
    """The lowest value of other columns' cells minus that of `start`; None unless all of them have one."""
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
    """With what the records were made, each distinct thing once; `pipelines`: models that nothing trained."""
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
    """What a pipeline calls itself, and the hash of its files."""
    said = record.recipe.get("pipeline", {})
    named = (said.get("lang"), said.get("name"), said.get("version"))
    return f"{' '.join(str(part) for part in named if part)} (SHA-256 {record.model_sha256})"


def machine(hardware: Mapping[str, object]) -> str:
    """One line for a machine, as `pubmill.hardware.provenance` describes it: GPUs, else the processor."""
    gpus = hardware.get("gpus")
    if isinstance(gpus, list) and gpus:
        return ", ".join(f"{gpus.count(gpu)} x {gpu}" for gpu in dict.fromkeys(gpus))
    return f"{hardware.get('cpu', 'unknown')}, {hardware.get('cores', '?')} cores"
