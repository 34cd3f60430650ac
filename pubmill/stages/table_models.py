"""Models of tables of results."""

from collections.abc import Container

from pubmill.errors import PubmillError
from pubmill.messages.wording import SHOWN
from pubmill.specs.own_settings import own_column
from pubmill.specs.study import DEMO
from pubmill.specs.table_specs import ColumnSpec
from pubmill.stages.stage import GraphPart, cached


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
            self.graph.records.at_hand(self.graph.cells.records(spec, column, row))
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
