"""Datasets and models of tables."""

from collections.abc import Container

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.wording import SHOWN
from pubmill.specs import TableSpec
from pubmill.specs.own_settings import own_column
from pubmill.specs.study import DEMO
from pubmill.specs.table_specs import ColumnSpec
from pubmill.stages.stage import GraphPart, cached


class TableDatasets(GraphPart):
    """Datasets behind the rows of tables."""

    def required(self, table: TableSpec, row: str) -> list[str]:
        """Return the datasets that the runs behind a row are scored on, chosen on, and begin with."""
        parts = self.graph.runs.parts(table.protocol, row)
        folds = self._specs.protocols[table.protocol].folds.get(row)
        used = [*parts, *([folds.chosen_on] if folds else [])]
        pairs = {
            (table.protocol_of(column, of), setting)
            for column in table.columns
            for of in table.rows
            if table.dataset_of(column, of) == row
            for setting in table.settings_of(column, of)
        }
        known = [(self._specs.protocols[protocol], setting) for protocol, setting in sorted(pairs)]
        runs = [(protocol, setting) for protocol, setting in known if setting in protocol.settings]
        for name in used:
            for start in (protocol.start(name, setting) for protocol, setting in runs):
                if start is not None and start not in used:
                    used.append(start)
        return used

    def known_rows(self, table: TableSpec) -> list[str]:
        """Return the datasets of rows and cells that have a spec, whether or not the study requests them."""
        known, parts = self._specs.datasets, self.graph.runs.parts
        return [name for name in table.datasets() if all(p in known for p in parts(table.protocol, name))]

    def of_fact_table(self, table: str) -> list[str]:
        """Return the datasets of a table of facts that can be converted in this study."""
        named = dict.fromkeys(self._specs.fact_tables[table].datasets)
        return [
            name
            for name in named
            if name in self._specs.datasets and self.graph.availability.dataset_of_study(name) is None
        ]

    def wanted(self) -> list[str]:
        """Return datasets with a spec that the study's tables name, and those that runs behind their rows
        need, except those that its `datasets:` leaves out."""
        is_requested, facts = self.graph.requests.has_dataset, self._specs.fact_tables
        tables = [self._specs.tables[table] for table in self.graph.requests.result_tables()]
        named = [
            name
            for table in self._study.tables
            for name in (facts[table].datasets if table in facts else self._specs.tables[table].datasets())
        ]
        rows = [(table, row) for table in tables for row in table.datasets() if is_requested(row)]
        behind = [name for table, row in rows for name in self.required(table, row)]
        wanted = dict.fromkeys([*filter(is_requested, named), *behind])
        return [
            name for name in wanted if name in self._specs.datasets and self.graph.availability.exists(name)
        ]

    def left_out(self) -> list[str]:
        """Return one line for each dataset that the study's tables request but that is unavailable, with the
        reason and what to do."""
        advice = "; fetch what is missing into the mirror, or set `mirror: null`"
        rows = [name for table in self.graph.requests.result_tables() for name in self._requested_rows(table)]
        named, of = dict.fromkeys([*self.wanted(), *rows]), self.graph.availability
        return [
            f"left out of the tables: {name} ({reason}{advice if of.unmirrored(name) else ''})"
            for name in named
            if (reason := of.dataset(name))
        ]

    def _requested_rows(self, table: str) -> list[str]:
        """Return the datasets of a table of results that have a spec and that the study requests."""
        names = filter(self.graph.requests.has_dataset, self._specs.tables[table].datasets())
        return [name for name in names if name in self._specs.datasets]

    def check_scale(self) -> None:
        """Check that the scale has the datasets that the study names, and one of each table of results; a
        `PubmillError` lists what it lacks."""
        exists = self.graph.availability.exists
        named = [name for name in self._study.datasets or () if name in self._specs.datasets]
        rows = {table: self._requested_rows(table) for table in self.graph.requests.result_tables()}
        lacking = [f"dataset {name}" for name in named if not exists(name)] + [
            f"{table}: every dataset ({', '.join(names)})"
            for table, names in rows.items()
            if names and not any(map(exists, names))
        ]
        if lacking:
            raise PubmillError(
                f"scale {self._study.scale} has made-up data, and datasets of which you have every file; it "
                f"lacks {'; '.join(lacking)}. Choose another `scale:`, or download the files into a folder "
                f"and run {commands.pubmill('new', 'dataset', './FOLDER')}"
            )

    def check_folders(self) -> None:
        """Check that folders named for datasets of the study hold their files; one `PubmillError` for all."""
        mistakes = [text for dataset in self.wanted() for text in self.graph.availability.mistakes(dataset)]
        if mistakes:
            advice = "Put the files there, or leave the datasets out (`datasets:` of the study)."
            raise PubmillError("\n".join([*mistakes, advice]))


class TableModels(GraphPart):
    """Columns of tables of results, and their models."""

    @cached
    def columns(self, table: str) -> list[ColumnSpec]:
        """Return the columns that a table names, then one for each added model: added by the study, or by its
        own spec if the study requests it or records of it are on disk."""
        spec = self._specs.tables[table]
        known = {column.model for column in spec.columns}
        others = {name: model for name, model in self._specs.models.items() if name not in known}
        added = [
            ColumnSpec(model=name, label=model.label or name)
            for name, model in others.items()
            if self._is_added(table, name)
        ]
        return [*spec.columns, *(own_column(spec, one, self._specs, self._study) for one in added)]

    def _is_added(self, table: str, model: str) -> bool:
        by_spec = table in self._specs.models[model].tables
        if self.graph.requests.has_model(model):
            return by_spec or bool(self._study.models)
        spec, column = self._specs.tables[table], ColumnSpec(model=model, label=model)
        return by_spec and any(
            self.graph.records.at_hand(self.graph.tables.cell_records(spec, column, row))
            for row in spec.rows
            if row.model is None and row.dataset in self.graph.table_datasets.known_rows(spec)
        )

    def wanted(self) -> list[str]:
        """Return the models of all tables of results that the study requests, without repetition."""
        named = (
            self._specs.tables[table].model_of(column, row)
            for table in self.graph.requests.result_tables()
            for column in self.columns(table)
            for row in self._specs.tables[table].rows
        )
        return [model for model in dict.fromkeys(named) if self.graph.requests.has_model(model)]

    def check_folders(self) -> None:
        """Check that each folder named for a model of the study holds a model; one `PubmillError` for all."""
        of_models = map(self.graph.availability.ancestry, self.wanted())
        behind = dict.fromkeys(name for ancestry in of_models for name in ancestry)
        if mistakes := list(filter(None, map(self.graph.models.folder_mistake, behind))):
            advice = "Correct the folders' names, or leave the models out (`models:` of the study)."
            raise PubmillError("\n".join([*mistakes, advice]))

    def left_out(self) -> list[str]:
        """Return lines on models left out of the tables, with reasons: one for each unavailable model, one
        for each whose own spec names a table but that `models:` lacks, and one for all others together."""
        reasons = {model: self.graph.availability.model(model) for model in self.wanted()}
        for model, tables in self.graph.requests.models_to_add().items():
            named = ", ".join(tables)
            reasons[model] = f"its spec names {named}, which the study runs; add it to the study's `models:`"
        lines = [f"left out of the tables: {model} ({reason})" for model, reason in reasons.items() if reason]
        return [*lines, *self._not_named(reasons)]

    def _not_named(self, known: Container[str]) -> list[str]:
        """Return one line on the tables' models that neither `models:` nor `known` has; [] if there are none,
        if `models:` is null, and for the demo."""
        requests = self.graph.requests
        shown = dict.fromkeys(one.model for table in requests.result_tables() for one in self.columns(table))
        others = [one for one in shown if one and one not in known and not requests.has_model(one)]
        if self._study.models is None or self._study.study == DEMO or not others:
            return []
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        return [
            f"left out of the tables: {', '.join(others[:SHOWN])}{more} "
            "(`models:` of the study names others; null: all)"
        ]
