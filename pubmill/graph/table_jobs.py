"""Tables of results."""

from collections.abc import Iterator
from typing import NamedTuple

from pubmill.graph.cell_records import Cells
from pubmill.graph.headings import heading
from pubmill.graph.pipelines import Pipelines
from pubmill.graph.record_status import Records
from pubmill.graph.runs import Runs
from pubmill.graph.stage_versions import VERSIONS
from pubmill.graph.table_datasets import NOT_RUN, TableDatasets
from pubmill.graph.table_models import TableModels
from pubmill.recipes.tables import Column, Equivalence, Row, TableRecipe
from pubmill.specs import DatasetSpec, Specs, TableSpec
from pubmill.specs.study import Study
from pubmill.specs.table_specs import ColumnSpec, RowSpec
from pubmill.storage.path_lists import by_folder
from pubmill.storage.result_paths import Paths

NOT_FOR = "the pipeline is not for this dataset"
COPIED = "the paper copied this value from {}, so no run of its own stands behind it"
NO_SETTING = "the paper's setting is not for this dataset"


class Found(NamedTuple):
    """Records on disk beyond those that a study makes. `records`: column -> row -> paths below the results
    folder, of which at least one is there; `stale`: `column/row` -> why its records on disk are not shown."""

    records: dict[str, dict[str, list[str]]]
    stale: dict[str, str]


class Tables:
    """Recipes and inputs of tables of results."""

    def __init__(
        self,
        study: Study,
        specs: Specs,
        paths: Paths,
        runs: Runs,
        pipelines: Pipelines,
        table_datasets: TableDatasets,
        table_models: TableModels,
        cells: Cells,
        records: Records,
    ) -> None:
        self._study = study
        self._specs = specs
        self._paths = paths
        self._runs = runs
        self._pipelines = pipelines
        self._table_datasets = table_datasets
        self._table_models = table_models
        self._cells = cells
        self._records = records
        self._found: dict[str, Found] = {}

    def records(self, table: str) -> dict[str, dict[str, list[str]]]:
        """Return the records a table is built from: column -> row -> paths below the results folder."""
        spec = self._specs.tables[table]
        rows = [row for row in spec.rows if self._table_datasets.is_scored(spec, row.dataset)]
        return {
            column.name: {
                row.name: found for row in rows if (found := self._cells.records(spec, column, row))
            }
            for column in self._table_models.columns(table)
            if self._table_models.is_run(column.model)
        }

    def found(self, table: str) -> Found:
        """Return the records of a table that are on disk but that no job of this study makes."""
        if table not in self._found:
            self._found[table] = Found({}, {})
            for column, row, paths in self._cells_not_run(table):
                at_hand = self._records.at_hand(paths)
                stale = next(filter(None, map(self._records.stale, at_hand)), None)
                if stale:
                    self._found[table].stale[f"{column}/{row}"] = (
                        f"{NOT_RUN}; its records on disk are {stale}"
                    )
                elif at_hand:
                    self._found[table].records.setdefault(column, {})[row] = paths
        return self._found[table]

    def _cells_not_run(self, table: str) -> Iterator[tuple[str, str, list[str]]]:
        """Yield column, row and records of the cells that this study makes no records for."""
        spec, made = self._specs.tables[table], self.records(table)
        known = set(self._table_datasets.known_rows(spec))
        for column in self._table_models.columns(table):
            for row in spec.rows if column.model in self._specs.models else ():
                if row.dataset in known and row.name not in made.get(column.name, {}):
                    yield column.name, row.name, self._cells.records(spec, column, row)

    def shown_records(self, table: str) -> dict[str, dict[str, list[str]]]:
        """Return the records that a table shows, including those of `found`."""
        made, found = self.records(table), self.found(table).records
        return {column: made.get(column, {}) | found.get(column, {}) for column in [*made, *found]}

    def found_records(self, table: str) -> list[str]:
        """Return the records of `found` that are on disk."""
        cells = self.found(table).records.values()
        return [path for rows in cells for paths in rows.values() for path in self._records.at_hand(paths)]

    def record_files(self, table: str) -> list[str]:
        """Return the paths of the records that this study makes for a table."""
        found = self.records(table).values()
        return [
            self._paths.at(path) for by_dataset in found for paths in by_dataset.values() for path in paths
        ]

    def contribution_files(self, table: str) -> list[str]:
        """Return the contributions of documents to the records of a table; each file lies beside its
        record."""
        return [self._paths.contributions(path) for path in self.record_files(table)]

    def recipe(self, table: str) -> TableRecipe:
        """Return the recipe of a table."""
        spec, found = self._specs.tables[table], self.found(table).records
        return TableRecipe(
            **heading(spec, self._study.scale, self._specs),
            comparable=self._specs.scale.comparable,
            protocol=spec.protocol,
            setting=spec.setting,
            aggregate=self._specs.protocols[spec.protocol].final.aggregate,
            equivalence=self._equivalence(spec),
            rows=tuple(self.row(spec, row) for row in spec.rows),
            columns=tuple(self.column(column) for column in self._table_models.columns(table)),
            composites=spec.composites,
            left_out=spec.left_out,
            records={
                column: {row: by_folder(paths) for row, paths in rows.items()}
                for column, rows in self.shown_records(table).items()
            },
            found=tuple(f"{column}/{row}" for column, rows in found.items() for row in rows),
            missing=self._missing_reasons(table),
            versions={"table": VERSIONS["table"]},
        )

    def column(self, column: ColumnSpec) -> Column:
        """Return a column of a recipe."""
        return Column(
            key=column.name,
            label=column.label,
            model=column.model,
            pipeline=column.model in self._pipelines.names(),
            published=column.published or (column.name,),
            best_of=column.best_of or (),
            drop=column.drop,
        )

    def row(self, table: TableSpec, row: RowSpec) -> Row:
        """Return a row of a recipe."""
        parts = self._runs.parts(table.protocol, row.dataset)
        spec: DatasetSpec | None = self._specs.datasets.get(parts[0])
        metric = table.metric_of(row, spec) or ""
        return Row(
            key=row.name,
            dataset=row.dataset,
            label=row.label,
            group=row.group,
            metric=metric,
            published=row.published or row.dataset.partition("@")[0],
            printed=row.printed or metric,
            shown=row.name not in table.hidden,
            not_comparable=row.not_comparable,
            conflicts=spec.conflicts if spec else (),
            folds=tuple(parts) if parts != [row.dataset] else (),
        )

    def _equivalence(self, table: TableSpec) -> Equivalence:
        """Return how verdicts are reached: the margin of each row and composite, and the runs of each row."""
        rule = self._specs.protocols[table.protocol].equivalence
        composites = {composite.name: "default" for composite in table.composites}
        of = {row.name: row.dataset for row in table.rows} | composites
        return Equivalence(
            alpha=rule.alpha,
            power=rule.power,
            margins={
                name: rule.margins.get(dataset, rule.margins["default"]) for name, dataset in of.items()
            },
            runs={row.name: self._paper_runs(table, row.dataset) for row in table.rows},
        )

    def _paper_runs(self, table: TableSpec, row: str) -> int:
        """Return how many runs of a model the paper had of a dataset, or of its folds together."""
        protocol = self._specs.protocols[table.protocol]
        return sum(map(protocol.runs, self._runs.parts(table.protocol, row)))

    def _missing_reasons(self, table: str) -> dict[str, str]:
        """Return why columns, rows and single cells (`column/row`) have no score of ours."""
        spec, found = self._specs.tables[table], self.records(table)
        columns, pipelines = self._table_models.columns(table), self._pipelines.names()
        reasons = {}
        for column in columns:
            if not column.sources and not self._table_models.is_run(column.model):
                obstacle = self._table_models.obstacle(column.model)
                reasons[column.name] = column.missing or obstacle or NOT_RUN
        for row in spec.rows:
            if not self._table_datasets.is_scored(spec, row.dataset):
                known = row.dataset in self._table_datasets.known_rows(spec)
                obstacle = self._table_datasets.row_obstacle(spec, row.dataset) if known else None
                reasons[row.name] = row.missing or obstacle or NOT_RUN
                continue
            for column in columns:
                if row.name not in found.get(column.name, {row.name: []}):
                    copied = spec.copied_from(column, row)
                    why = NOT_FOR if column.model in pipelines else NO_SETTING
                    why = COPIED.format(copied) if copied else why
                    reasons[f"{column.name}/{row.name}"] = why
        return reasons | self.found(table).stale
