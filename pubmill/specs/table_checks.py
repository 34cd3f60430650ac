"""Cross-checks of tables of results against the other specs."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pubmill.metrics import METRICS, metrics_of
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.model_specs import ModelSpec, UntrainedWeights
from pubmill.specs.protocol_specs import ProtocolSpec
from pubmill.specs.table_specs import ColumnSpec, RowSpec, TableSpec

Place = tuple[str | int, ...]


def obstacles(table: Any, made: dict[str, dict[str, Any]]) -> Iterator[tuple[Place, str]]:
    """Report why cells of a result table cannot be run with its protocol and setting."""
    if not isinstance(table, TableSpec) or any(name not in made["protocols"] for name in table.protocols()):
        return
    protocol, models = made["protocols"][table.protocol], made["models"]
    if table.setting not in protocol.settings:
        yield ("setting",), f"protocol {table.protocol} has no setting {table.setting!r}"
        return
    yield from _unknown_settings(table, made["protocols"])
    columns = [column for column in table.columns if column.model in models]
    for i, row in enumerate(table.rows):
        if row.dataset in made["datasets"]:
            faults = {_cell_obstacle(table, column, row, made) for column in columns}
            yield from ((("rows", i, "dataset"), fault) for fault in sorted(filter(None, faults)))
    yield from _metric_faults(table, protocol, made["datasets"])


def _unknown_settings(table: TableSpec, protocols: dict[str, ProtocolSpec]) -> Iterator[tuple[Place, str]]:
    """Report settings of columns, rows and cells that their protocols lack."""
    for i, column in enumerate(table.columns):
        for j, row in enumerate(table.rows):
            name, cell = table.protocol_of(column, row), column.cells.get(row.name)
            own = (("columns", i, "cells", row.name), cell and cell.setting)
            parts = (own, (("rows", j, "setting"), row.setting), (("columns", i, "setting"), column.setting))
            place, named = next(((at, names) for at, names in parts if names), (("setting",), ()))
            if strangers := [one for one in named if one not in protocols[name].settings]:
                yield place, f"protocol {name} has no setting {', '.join(strangers)}"


def _cell_obstacle(
    table: TableSpec, column: ColumnSpec, row: RowSpec, made: dict[str, dict[str, Any]]
) -> str | None:
    """Return why the runs of a cell cannot be made; None for a cell that the paper copied."""
    protocol: ProtocolSpec = made["protocols"][table.protocol_of(column, row)]
    model, data = table.model_of(column, row), made["datasets"].get(table.dataset_of(column, row))
    if table.copied_from(column, row) or model not in made["models"] or data is None:
        return None
    metric = table.metric_of(row, data)
    if not _is_fine_tuned(made["models"].get(model)):
        needs = METRICS[metric].needs if metric else {}
        return f"{metric} needs {_listed(needs)}; {model} is not fine-tuned here" if needs else None
    fitting = table.setting_of(column, row, protocol, data)
    given = table.setting if table.setting in protocol.settings else table.settings_of(column, row)[0]
    setting = fitting or given
    return protocol.obstacle(data, model, setting) or _unmet_need(metric, protocol, data, model, setting)


def _unmet_need(
    metric: str | None, protocol: ProtocolSpec, data: DatasetSpec, model: str, setting: str
) -> str | None:
    """Return why runs of a setting do not define a metric; None if they do."""
    needs = METRICS[metric].needs if metric else {}
    if not needs:
        return None
    recipe = protocol.recipe(data, model, setting, trial=False)
    values = {key: recipe.get(key) for key in needs}
    run = f"protocol {protocol.name}, setting {setting}"
    return None if values == needs else f"{metric} needs {_listed(needs)}; {run} has {_listed(values)}"


def _listed(values: Mapping[str, object]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in values.items())


def _metric_faults(
    table: TableSpec, protocol: ProtocolSpec, datasets: dict[str, DatasetSpec]
) -> Iterator[tuple[Place, str]]:
    """Report rows without a metric, and rows whose metric does not fit their datasets or folds, or those of
    single cells."""
    for i, row in enumerate(table.rows):
        folds = protocol.folds.get(row.dataset)
        own = dict.fromkeys(folds.reported if folds else (row.dataset,), row.dataset)
        named = own | {name: name for name in _datasets_of_cells(table, row)}
        parts = {name: datasets[name] for name in named if name in datasets}
        metric = table.metric_of(row, next(iter(parts.values()), None))
        if metric is None:
            yield ("rows", i), f"{row.name} has no dataset spec, so it needs a `metric`"
        for shown, kind, task in sorted(
            {(named[name], part.kind, part.task) for name, part in parts.items()}
        ):
            known = [one.name for one in metrics_of(kind, task)]
            if metric not in known:
                fault = f"{shown} ({kind}, {task}) has no {metric}, the metric of the table"
                yield ("rows", i, "dataset"), f"{fault}; it has {', '.join(known)}"


def _datasets_of_cells(table: TableSpec, row: RowSpec) -> list[str]:
    named = (table.dataset_of(column, row) for column in table.columns)
    return [dataset for dataset in dict.fromkeys(named) if dataset != row.dataset]


def _is_fine_tuned(model: ModelSpec | None) -> bool:
    return model is not None and not isinstance(model.weights, UntrainedWeights)


def hidden_models(table: object, models: Collection[str]) -> Iterator[tuple[Place, str]]:
    """Columns without a model whose name is that of a model spec."""
    for i, column in enumerate(table.columns if isinstance(table, TableSpec) else ()):
        if column.model is None and column.name in models:
            yield ("columns", i, "key"), column.name
