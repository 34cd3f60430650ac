"""Records of runs as DataFrames, and the refusal of records that were made differently and must not share a
row or a cell.

`load_records` gives one line per record: its index is the record's path below the results folder, its columns
are the fields of `pubmill.metrics.records.Record`. Text that is None is NaN; mappings stay mappings.

`load_runs` gives one line per run that a cell of a table expects, in the order of the recipe:

- `column`, `row`: the cell; `supplied`: whether its model is not fine-tuned here.
- `path`, `dataset`, `seed`: the record's path below the results folder, and the run that it names.
- `fold`: its dataset if the row has several, else empty.
- `recorded`: whether the record exists.
- `score`: the row's metric, times 100; NaN if the run failed or has no record.
- `failed`: why there is no score; NaN if there is one. `collapsed`: whether its predictions are constant.
- `asked`: what a language model's answers cost; empty for other runs.
- the other fields of the record.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pandas import DataFrame, Series

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record, read_record
from pubmill.recipes.tables import NOT_RUN, TableRecipe
from pubmill.storage.result_paths import ALL_RECORDS, run_of
from pubmill.tables.cells import NO_RECORD, asked_cost

CELL = ["column", "row"]
"""Columns that identify a cell."""

EXPECTED = {
    "column": "str", "row": "str", "supplied": "bool", "path": "str", "dataset": "str", "seed": "int64",
    "fold": "str",
}  # fmt: skip
"""Columns of a table's runs that do not come from records, and their types."""

PLACE = ["protocol", "model", "dataset", "setting", "scale", "seed"]
"""Fields that the path of a record and its table determine."""

_TYPES: dict[Any, str] = {int: "int64", int | None: "Int64", bool: "boolean"}
_TYPES |= dict.fromkeys((str, str | None), "str") | dict.fromkeys((float, float | None), "float64")
COLUMN_TYPES = {name: _TYPES.get(field.annotation, "object") for name, field in Record.model_fields.items()}
"""Field of a record -> type of its column; mappings are objects."""


def load_records(results: Path, paths: Iterable[str] | None = None) -> DataFrame:
    """Read the records at these paths below a results folder, by default all of its records."""
    if paths is None:
        paths = sorted(path.relative_to(results).as_posix() for path in results.glob(ALL_RECORDS))
    return record_frame((path, read_record(results / path)) for path in paths)


def record_frame(records: Iterable[tuple[str, Record]]) -> DataFrame:
    """Return records with their paths as a DataFrame; equal mappings become one object to save memory."""
    index: list[str] = []
    columns: dict[str, list[object]] = {name: [] for name in COLUMN_TYPES}
    known: dict[str, object] = {}
    for path, record in records:
        index.append(path)
        for name, values in columns.items():
            value = getattr(record, name)
            values.append(known.setdefault(repr(value), value) if isinstance(value, dict) else value)
    series = {name: Series(columns[name], index, dtype, name) for name, dtype in COLUMN_TYPES.items()}
    return DataFrame(series, index=index)


def load_runs(recipe: TableRecipe, results: Path) -> DataFrame:
    """Read every expected record of a table, and check that its content matches its path."""
    runs = _expected_runs(recipe)
    records = load_records(results, [path for path in runs["path"].unique() if (results / path).exists()])
    _check_places(results, recipe.scale, records)
    return with_records(recipe, records)


def with_records(recipe: TableRecipe, records: DataFrame) -> DataFrame:
    """Return the runs that a table expects, with their records as far as these exist."""
    runs = _expected_runs(recipe)
    runs = runs.join(records.drop(columns=["dataset", "seed"]), on="path")
    runs["recorded"] = runs["path"].isin(records.index)
    runs["failed"] = runs["failed"].where(runs["recorded"], NO_RECORD)
    runs["collapsed"] = runs["collapsed"].fillna(False).astype(bool)
    costs = [asked_cost(*notes) for notes in records[["recipe", "encoded"]].itertuples(index=False)]
    runs["asked"] = runs["path"].map(dict(zip(records.index, costs, strict=True))).astype("object")
    runs["score"] = 100 * _own_metric(recipe, runs)
    return runs


def _expected_runs(recipe: TableRecipe) -> DataFrame:
    """Return the runs that a table expects; a `PubmillError` if a cell has records of other datasets."""
    rows = {row.key: row for row in recipe.rows}
    supplied = {column.key for column in recipe.columns if column.supplied}
    runs = []
    for column, of_column in recipe.records.items():
        for key, path in ((key, path) for key, paths in of_column.items() for path in paths):
            run, seed = run_of(path)
            row, own = rows[key], recipe.datasets.get(f"{column}/{key}")
            expected = (own,) if own else row.folds or (row.dataset or "",)
            if run.dataset not in expected:
                raise PubmillError(
                    f"{path} is a record on {run.dataset}, but the row {key} needs {', '.join(expected)}"
                )
            fold = run.dataset if row.folds and not own else ""
            runs.append((column, key, column in supplied, path, run.dataset, seed, fold))
    return DataFrame(runs, columns=list(EXPECTED)).astype(EXPECTED)


def _check_places(results: Path, scale: str, records: DataFrame) -> None:
    """Check that records are of the runs that their paths name, and of the table's scale."""
    runs = [key.run._asdict() | {"seed": key.seed} for key in map(run_of, records.index)]
    named = DataFrame(runs, index=records.index).assign(scale=scale)
    for path in records.index[(records[PLACE] != named[PLACE]).any(axis=1)] if len(records) else ():
        pairs = [(name, records.at[path, name], named.at[path, name]) for name in PLACE]
        wrong = [f"{name} is {own!r}, expected {right!r}" for name, own, right in pairs if own != right]
        raise PubmillError(
            f"{results / path} does not belong in this table: {'; '.join(wrong)}. "
            f"Remove the file and make the table again, so that the run is scored anew"
        )


def _own_metric(recipe: TableRecipe, runs: DataFrame) -> Series:
    """Return the metric of each run's row; NaN for a run that failed or has no record."""
    metrics = {row.key: row.metric for row in recipe.rows}
    known, scores = runs["failed"].isna(), list[float]()
    for run in runs.loc[known, ["row", "model", "dataset", "seed", "metrics"]].itertuples():
        values, metric = run.metrics or {}, metrics[run.row]
        if metric not in values:
            raise PubmillError(
                f"the record of {run.model} on {run.dataset}, seed {run.seed}, has no {metric}; "
                f"it has {', '.join(sorted(values))}. Score the predictions again"
            )
        scores.append(values[metric])
    return Series(scores, runs.index[known], float).reindex(runs.index)


UNLIKE = f"{NOT_RUN}; its records on disk differ from the other runs of its row in data, weights or versions"

OF_PREDICTING = ("finetune", "take_predictions")
"""Stages of a record's versions that make predictions; the others are of data and scoring."""

IN_CELL = {"model_sha256": "model weights", "recipe": "recipe"}
"""Fields that all seeds of a model on a dataset, including all its folds, must share, with their names."""
_DATA = {"split": "split", "data_sha256": "data hash"}
IN_ROW = {**_DATA, "trained_on_sha256": "training data", "versions": "versions"}
"""Fields that the records of a dataset or fold must share, among fine-tuned models or among others."""
OF_SCORING = {**_DATA, "scoring_versions": "versions"}
"""Fields that all records of a dataset or fold must share, of fine-tuned models and others alike."""


def refuse_mixtures(runs: DataFrame) -> None:
    """Refuse rows that mix data, splits or stage versions, and cells whose seeds mix weights or recipes.

    Supplied predictions share only the scored data and the scoring with fine-tuned models.
    """
    known = runs[runs["recorded"]]
    known = known.assign(
        scoring_versions=[
            {stage: version for stage, version in versions.items() if stage not in OF_PREDICTING}
            for versions in known["versions"]
        ]
    )
    kinds = ["row", "dataset", "supplied"]
    first_of_kinds = known.sort_values("supplied", kind="stable").drop_duplicates(kinds)
    _refuse_differences("cell", CELL, IN_CELL, known)
    _refuse_differences("row", kinds, IN_ROW, known)
    _refuse_differences("row", ["row", "dataset"], OF_SCORING, first_of_kinds)


def without_unlike(recipe: TableRecipe, runs: DataFrame) -> tuple[TableRecipe, DataFrame]:
    """Leave out the runs found on disk that must not share a row with the study's own. Found records were
    checked before the study's examples and weights were rebuilt, perhaps with other content."""
    cells = runs["column"] + "/" + runs["row"]
    kept, missing = ~cells.isin(recipe.found), dict(recipe.missing)
    for cell in dict.fromkeys(recipe.found):
        own = cells == cell
        in_row = runs["row"].isin(runs["row"][own])
        try:
            refuse_mixtures(runs[(kept | own) & in_row])
            kept |= own
        except PubmillError:
            missing[cell] = UNLIKE
    return replace(recipe, missing=missing), runs[kept]


def _refuse_differences(where: str, keys: list[str], fields: Mapping[str, str], runs: DataFrame) -> None:
    """Refuse runs that differ in `fields` from the first one with the same `keys`."""
    groups = runs[[*fields]].map(repr).groupby([runs[key] for key in keys], sort=False)
    distinct = groups.transform("nunique").max(axis=1)
    for _, of_group in runs[distinct > 1].groupby(keys, sort=False):
        values = of_group[[*fields]].astype(object)
        first, *others = values.where(values.notna(), None).to_dict("records")
        for path, other in zip(of_group["path"].iloc[1:], others, strict=True):
            mixed = [
                f"{name}: {_difference_text(first[field], other[field])}"
                for field, name in fields.items()
                if first[field] != other[field]
            ]
            if mixed:
                raise PubmillError(
                    f"{of_group['path'].iloc[0]} and {path} must not share one {where}; they differ in "
                    f"{'; '.join(mixed)}. Rebuild the older one (remove it and request the table)"
                )


def _difference_text(one: object, other: object) -> str:
    """Describe two different values; for mappings, only the keys that differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
        return ", ".join(f"{key} {one.get(key)} against {other.get(key)}" for key in keys)
    return f"{one} against {other}"
