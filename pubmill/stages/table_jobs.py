"""Tables of results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from pubmill.recipes.tables import (
    NOT_RUN,
    Column,
    Difference,
    Equivalence,
    Reason,
    ReferencedCell,
    Row,
    TableRecipe,
    project,
    table_title,
)
from pubmill.specs import DatasetSpec, Specs, TableSpec
from pubmill.specs.cell_sources import CellSource, cell_sources
from pubmill.specs.table_checks import copied_cell, subtracted_cell
from pubmill.specs.table_specs import CellReference, ColumnSpec, RowSpec
from pubmill.stages.stage import HOUR, TEMPLATES, Needs, Stage, cached
from pubmill.stages.supplied_predictions import NOT_FINE_TUNED
from pubmill.storage.result_paths import RELATIVE, RunKey, manifest_of


def part_of(recipe: TableRecipe, cells: Sequence[ReferencedCell]) -> TableRecipe:
    """Return the part of a table's recipe that these cells need."""
    columns, named = {cell.column for cell in cells}, {cell.row for cell in cells}
    composites = [one for one in recipe.composites if one.name in named]
    rows = named | {row for one in composites for group in one.groups.values() for row in group}
    return replace(recipe.restricted(columns, rows), notes=(), reasons=(), left_out={})


def cell_reasons(table: TableSpec, columns: Sequence[ColumnSpec], specs: Specs) -> tuple[Reason, ...]:
    """Return the reasons of a table, each once with the cells, columns and rows that it is about."""
    reasons: dict[str, list[str]] = {}
    for row in table.rows:
        if row.not_comparable:
            reasons[f"not comparable: {row.not_comparable}"] = [f"/{row.name}"]
    for cell in cell_sources(table, columns, specs):
        for text in _texts(table, cell, specs):
            reasons.setdefault(text, []).append(f"{cell.column.name}/{cell.row.name}")
    sizes = {column.name: sum(not table.copied_from(column, row) for row in table.rows) for column in columns}
    return tuple(Reason(text=text, cells=_merged(places, sizes)) for text, places in reasons.items())


def _merged(places: Sequence[str], sizes: dict[str, int]) -> tuple[str, ...]:
    """Return places (`column/row`), with `column/` for a column all of whose cells with runs are listed."""
    columns = [place.partition("/")[0] for place in places]
    whole = {column for column in columns if column and columns.count(column) == sizes[column]}
    merged = (
        f"{column}/" if column in whole else place for column, place in zip(columns, places, strict=True)
    )
    return tuple(dict.fromkeys(merged))


def _texts(table: TableSpec, cell: CellSource, specs: Specs) -> Iterator[str]:
    """Yield why a cell has other runs than its column and row, the notes on its model, and the sources of its
    setting's values."""
    own = cell.column.cells.get(cell.row.name)
    dataset = table.dataset_of(cell.column, cell.row)
    others = [
        *([f"model {cell.model}"] if cell.model != cell.column.model else []),
        *([f"dataset {dataset}"] if dataset != cell.row.dataset else []),
        *([f"protocol {own.protocol}"] if own and own.protocol else []),
        *([f"setting {' or '.join(own.setting)}"] if own and own.setting else []),
    ]
    if others:
        yield f"ours has {', '.join(others)}" + (f": {own.why}" if own and own.why else "")
    if own and own.not_comparable:
        yield f"not comparable: {own.not_comparable}"
    if model := specs.models.get(cell.model):
        yield from (f"model: {note}" for note in model.notes)
    decided: dict[str, tuple[str | None, str]] = {}
    for override in cell.overrides.values():
        why = override.why if override.settings else None
        for key, value in {**override.values, **(override.grid or {})}.items():
            tried = value if isinstance(value, tuple) else (value,)
            shown = " or ".join("none" if one in (None, (None,)) else str(one) for one in tried)
            decided[key] = (why, f"{key} {shown}")
    for why in dict.fromkeys(source for source, _ in decided.values() if source):
        values = ", ".join(text for source, text in decided.values() if source == why)
        yield f"setting {cell.setting}, {values}: {why}"


Paths = dict[str, dict[str, list[str]]]
"""Column -> row -> paths of records, below the results folder."""


def _all_paths(records: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    return [path for rows in records.values() for paths in rows.values() for path in paths]


class TableStage(Stage):
    """A table of results: its recipe, its inputs, and the records behind its cells."""

    name, group, label = "table", "tables", "Building {wildcards.results_table}"
    version = 13
    needs = Needs(2_000, HOUR)
    read_by_name = (TEMPLATES,)

    @cached
    def records(self, table: str) -> Paths:
        """Return the records that this study makes for a table."""
        made: Paths = {
            column.name: {}
            for column in self.graph.table_models.columns(table)
            if self.graph.availability.model_of_study(column.model) is None
        }
        for column, row, paths in self.cells_with_runs(table):
            made.setdefault(column.name, {})[row.name] = paths
        return made

    def cells_with_runs(self, table: str) -> Iterator[tuple[ColumnSpec, RowSpec, list[str]]]:
        """Yield column, row and record paths of each cell with runs in this study."""
        spec, available = self._specs.tables[table], self.graph.availability
        scored = {name for name in spec.datasets() if available.row(spec, name) is None}
        for column in self.graph.table_models.columns(table):
            for row in spec.rows:
                why_not = available.model_of_study(spec.model_of(column, row))
                is_run = why_not is None and spec.dataset_of(column, row) in scored
                if is_run and (paths := self.cell_records(spec, column, row)):
                    yield column, row, paths

    def cell_records(self, table: TableSpec, column: ColumnSpec, row: RowSpec) -> list[str]:
        """Return the paths of a cell's records, below the results folder. There are none if the paper copied
        the value, if the model is not fine-tuned here and has no predictions for the dataset, or if no
        setting applies to the dataset."""
        model = table.model_of(column, row)
        assert model
        if table.copied_from(column, row):
            return []
        protocol = table.protocol_of(column, row)
        parts = self.graph.runs.parts(protocol, table.dataset_of(column, row))
        if model in self.graph.supplied.names():
            of_parts = [self.graph.supplied.records(model, part) for part in parts]
            return list(chain(*of_parts)) if all(of_parts) else []
        spec, data = self._specs.protocols[protocol], self._specs.datasets[parts[0]]
        setting = table.setting_of(column, row, spec, data)
        if setting is None:
            return []
        runs = [RunKey(protocol, model, dataset, setting) for dataset in parts]
        return [RELATIVE.record(run, seed) for run in runs for seed in self.graph.runs.seeds(run)]

    @cached
    def found(self, table: str) -> tuple[Paths, dict[str, str]]:
        """Return the records of a table that are on disk but that no job of this study makes, and why stale
        ones (`column/row`) are not shown."""
        made, known = self.records(table), self.known_cells(table)
        return self._on_disk(cell for cell in known if cell[1] not in made.get(cell[0], {}))

    def _on_disk(self, cells: Iterable[tuple[str, str, list[str]]]) -> tuple[Paths, dict[str, str]]:
        records, not_shown = Paths(), dict[str, str]()
        for column, row, paths in cells:
            at_hand = self.graph.records.at_hand(paths)
            if stale := next(filter(None, map(self.graph.records.stale, at_hand)), None):
                not_shown[f"{column}/{row}"] = f"{NOT_RUN}; its records on disk are {stale}"
            elif at_hand:
                records.setdefault(column, {})[row] = paths
        return records, not_shown

    def known_cells(self, table: str) -> Iterator[tuple[str, str, list[str]]]:
        """Yield column, row and records of the cells whose models and datasets have specs."""
        spec = self._specs.tables[table]
        known = set(self.graph.table_datasets.known_rows(spec))
        for column in self.graph.table_models.columns(table):
            for row in spec.rows:
                if spec.model_of(column, row) in self._specs.models and spec.dataset_of(column, row) in known:
                    yield column.name, row.name, self.cell_records(spec, column, row)

    def found_records(self, table: str) -> list[str]:
        """Return the records of `found` that are on disk."""
        return self.graph.records.at_hand(_all_paths(self.found(table)[0]))

    def made_records(self, table: str) -> list[str]:
        """Return the records that this study makes for a table, below the results folder."""
        return _all_paths(self.records(table))

    def record_files(self, table: str) -> list[str]:
        """Return the manifests of these records, one for each run."""
        return list(dict.fromkeys(manifest_of(self._paths.at(path)) for path in self.made_records(table)))

    def copied(self, table: str) -> dict[str, ReferencedCell]:
        """Return the cells that cells of a table were copied from, as far as specs describe them:
        `column/row` -> cell."""
        spec, specs = self._specs.tables[table], self._specs
        return {
            f"{column.name}/{row.name}": self._referenced(origin)
            for column in spec.columns
            for row in spec.rows
            if (origin := copied_cell(spec, column, row, specs.tables, specs.datasets))
        }

    def differences(self, table: str) -> tuple[Difference, ...]:
        """Return the differences of a table to cells of other tables."""
        tables = self._specs.tables
        return tuple(
            project(
                Difference,
                one,
                of=one.row,
                minus={name: self._referenced(subtracted_cell(one, name, tables)) for name in one.columns},
            )
            for one in tables[table].differences
        )

    def _referenced(self, cell: CellReference) -> ReferencedCell:
        return project(ReferencedCell, cell, linked=cell.table in self._study.tables)

    def others(self, table: str) -> dict[str, TableRecipe]:
        """Return the parts of other tables that a table refers to: table -> recipe of these cells. Cells of a
        table that the study does not make have only records that are on disk."""
        subtracted = [cell for one in self.differences(table) for cell in one.minus.values()]
        by_table: dict[str, list[ReferencedCell]] = {}
        for cell in [*self.copied(table).values(), *subtracted]:
            by_table.setdefault(cell.table, []).append(cell)
        return {
            name: part_of(self._recipe(name, name in self._study.tables), cells)
            for name, cells in sorted(by_table.items())
        }

    def other_files(self, table: str) -> list[str]:
        """Return the manifests of records of other tables that a table refers to and this study makes."""
        made = {path for name in self.graph.requests.result_tables() for path in self.record_files(name)}
        paths = dict.fromkeys(manifest_of(self._paths.at(path)) for path in self._paths_of_others(table))
        return [path for path in paths if path in made]

    def all_found_records(self, table: str) -> list[str]:
        """Return the records that a table reads, also of other tables, but that no job of the study makes."""
        made = set(map(self._paths.below, self.other_files(table)))
        others = (path for path in self._paths_of_others(table) if manifest_of(path) not in made)
        return [*self.found_records(table), *others]

    def _paths_of_others(self, table: str) -> list[str]:
        return [path for recipe in self.others(table).values() for path in _all_paths(recipe.records)]

    def recipe(self, table: str) -> TableRecipe:
        """Return the recipe of a table."""
        made = replace(
            self._recipe(table, is_made=True),
            copied=self.copied(table),
            differences=self.differences(table),
            others=self.others(table),
        )
        return self._as_asked(made) if self._study.own_tables else made

    def _as_asked(self, recipe: TableRecipe) -> TableRecipe:
        """Return the recipe of a table for models of one's own: their columns first, and only the rows and
        reasons of what is asked for."""
        requests = self.graph.requests
        own = [column for column in recipe.columns if requests.has_model(column.model)]
        kept = {row.key for row in recipe.rows if row.dataset and requests.has_dataset(row.dataset)}
        known = (one for one in recipe.composites if kept.issuperset(chain(*one.groups.values())))
        shown = kept | {one.name for one in known}
        differences = tuple(one for one in recipe.differences if one.of in shown)
        places = {"", *shown, *(one.name for one in differences)}
        columns = {"", *(column.key for column in own)}
        asked = {f"{column}/{row}" for column in columns for row in places if column or row}
        reasons = [replace(one, cells=tuple(c for c in one.cells if c in asked)) for one in recipe.reasons]
        return replace(
            recipe.restricted({column.key for column in recipe.columns}, shown),
            columns=tuple(sorted(recipe.columns, key=lambda column: column not in own)),
            differences=differences,
            reasons=tuple(one for one in reasons if one.cells),
            own=tuple(column.key for column in own),
        )

    def _shown(self, table: str, is_made: bool) -> tuple[Paths, Paths, dict[str, str]]:
        """Return all records that a table shows, those of them that no job of the study makes, and why other
        cells have none. A table that the study does not make has what is on disk."""
        if is_made:
            made, (beside, _) = self.records(table), self.found(table)
            shown = {column: made.get(column, {}) | beside.get(column, {}) for column in [*made, *beside]}
            return shown, beside, self.graph.availability.missing(table)
        beside, stale = self._on_disk(self.known_cells(table))
        why = f"{table_title(table)} is not a table of this study"
        return beside, beside, {column.name: why for column in self._specs.tables[table].columns} | stale

    def _recipe(self, table: str, is_made: bool) -> TableRecipe:
        """Return the recipe of a table without references to others."""
        records, found, missing = self._shown(table, is_made)
        spec, columns = self._specs.tables[table], self.graph.table_models.columns(table)
        cells = [(column, row) for column in columns if column.model for row in spec.rows]
        scored = [one for one in spec.datasets() if self.graph.availability.row(spec, one) is None]
        parts = [part for one in scored for part in self.graph.runs.parts(spec.protocol, one)]

        def folder(path: str) -> str:
            """Return the folder of a record: a table reads folds in the order of their names."""
            return path.rpartition("/")[0]

        return project(
            TableRecipe,
            spec,
            table=spec.name,
            notes=(*spec.notes, *self._statements(columns, records)),
            scale=self._study.scale,
            scale_title=self.graph.datasets.scale_title(parts),
            comparable=self._specs.scale.comparable,
            aggregate=self._specs.protocols[spec.protocol].final.aggregate,
            equivalence=self._equivalence(spec),
            rows=tuple(self.row(spec, row) for row in spec.rows),
            columns=tuple(map(self.column, columns)),
            reasons=cell_reasons(spec, columns, self._specs),
            differences=(),
            records={
                column: {row: tuple(sorted(paths, key=folder)) for row, paths in rows.items()}
                for column, rows in records.items()
            },
            found=tuple(f"{column}/{row}" for column, rows in found.items() for row in rows),
            missing=missing,
            versions={"table": self.version},
            datasets={
                f"{column.name}/{row.name}": spec.dataset_of(column, row)
                for column, row in cells
                if spec.dataset_of(column, row) != row.dataset
            },
            not_comparable={
                f"{column.name}/{row.name}": reason
                for column, row in cells
                if (reason := spec.not_comparable(column, row))
            },
        )

    def _statements(self, columns: Iterable[ColumnSpec], records: Paths) -> list[str]:
        """Return a statement on each model whose supplied predictions a table shows."""
        shown = {column.model for column in columns if column.name in records}
        return [self.graph.supplied.statement(one) for one in self.graph.supplied.names() if one in shown]

    def column(self, column: ColumnSpec) -> Column:
        """Return a column of a recipe; the label of supplied predictions says what they are."""
        supplied = column.model in self.graph.supplied.names()
        return project(
            Column,
            column,
            key=column.name,
            label=f"{column.label} ({NOT_FINE_TUNED})" if supplied else column.label,
            supplied=supplied,
            published=column.published or (column.name,),
            best_of=column.best_of or (),
        )

    def row(self, table: TableSpec, row: RowSpec) -> Row:
        """Return a row of a recipe."""
        parts = self.graph.runs.parts(table.protocol, row.dataset)
        spec: DatasetSpec | None = self._specs.datasets.get(parts[0])
        metric = table.metric_of(row, spec) or ""
        return project(
            Row,
            row,
            key=row.name,
            metric=metric,
            published=row.published or row.dataset.partition("@")[0],
            printed=row.printed or metric,
            shown=row.name not in table.hidden,
            conflicts=spec.conflicts if spec else (),
            folds=tuple(parts) if parts != [row.dataset] else (),
        )

    def _equivalence(self, table: TableSpec) -> Equivalence:
        """Return how verdicts are reached: the margin of each row, composite and difference, and how many
        runs of a model the paper had of each row's dataset, or of its folds together."""
        protocol = self._specs.protocols[table.protocol]
        rule, parts = protocol.equivalence, self.graph.runs.parts
        composites = {composite.name: "default" for composite in table.composites}
        of = {row.name: row.dataset for row in table.rows} | composites
        of |= {one.name: of[one.row] for one in table.differences}
        return Equivalence(
            alpha=rule.alpha,
            power=rule.power,
            margins={
                name: rule.margins.get(dataset, rule.margins["default"]) for name, dataset in of.items()
            },
            runs={
                row.name: sum(map(protocol.runs, parts(table.protocol, row.dataset))) for row in table.rows
            },
        )


class Compare(Stage):
    """Comparisons of the models of a table."""

    name, group, label = "compare", "tables", "Comparing the models of {wildcards.results_table}"
    version = 2
    needs = Needs(2_000, 4 * HOUR)
    read_by_name = (TEMPLATES,)
