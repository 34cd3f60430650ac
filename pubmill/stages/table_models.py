"""Models of tables of results, and their availability: weights may be in a folder of the user's own, or
learnt from texts that the user provides."""

from collections.abc import Container, Iterator
from typing import TypeGuard

from pubmill.errors import PubmillError
from pubmill.messages.wording import SHOWN
from pubmill.specs import FolderWeights, LearntVocabSpec
from pubmill.specs.corpus_specs import MimicSource, TextSource
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

    def is_run(self, model: str | None) -> TypeGuard[str]:
        """Return whether the study runs a model."""
        return self.graph.requests.has_model(model) and self.graph.model_access.obstacle(model) is None

    def obstacle(self, model: str | None) -> str | None:
        """Return why a model that the study requests is unavailable; None otherwise."""
        return self.graph.model_access.obstacle(model) if self.graph.requests.has_model(model) else None

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
        of_models = map(self.graph.model_access.ancestry, self.wanted())
        behind = dict.fromkeys(name for ancestry in of_models for name in ancestry)
        if mistakes := list(filter(None, map(self.graph.models.folder_mistake, behind))):
            advice = "Correct the folders' names, or leave the models out (`models:` of the study)."
            raise PubmillError("\n".join([*mistakes, advice]))

    def left_out(self) -> list[str]:
        """Return lines on models left out of the tables, with reasons: one for each unavailable model, one
        for each whose own spec names a table but that `models:` lacks, and one for all others together."""
        reasons = {model: self.graph.model_access.obstacle(model) for model in self.wanted()}
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


class ModelAccess(GraphPart):
    """Availability of models, and the reasons against it."""

    @cached
    def obstacle(self, model: str) -> str | None:
        """Return why a model is unavailable in this run, or None: a pipeline or weights whose folder is not
        named, or weights that are pretrained here on texts that are not there."""
        if model in self.graph.pipelines.names():
            return self.graph.pipelines.obstacle(model)
        return next(self._obstacles(model), None)

    def _obstacles(self, model: str) -> Iterator[str]:
        recipes = [self._specs.pretraining[name] for name in self.graph.models.last_steps([model])]
        for name in self.ancestry(model):
            weights = self._specs.models[name].preferred(self._specs.scale.prefer == "released")
            if isinstance(weights, FolderWeights) and self.graph.folders.find(weights.local) is None:
                whose = "its weights" if name == model else f"the weights of {name}"
                yield f"needs {whose} in a folder of your own (then set local_files: {weights.local})"
        vocabs = [self._specs.vocabs[recipe.vocab] for recipe in recipes]
        learnt = [vocab.corpus for vocab in vocabs if isinstance(vocab, LearntVocabSpec)]
        for corpus in (*(recipe.corpus for recipe in recipes), *learnt):
            if obstacle := self._texts_obstacle(corpus):
                yield obstacle

    def ancestry(self, model: str) -> dict[str, None]:
        """Return the model, and those that its pretrainings begin with or learn from."""
        recipes = [self._specs.pretraining[name] for name in self.graph.models.last_steps([model])]
        begun = [name for r in recipes for name in (r.start.model if r.start else None, r.teacher) if name]
        return dict.fromkeys([model, *begun])

    def _texts_obstacle(self, corpus: str) -> str | None:
        for source in self._specs.corpora[corpus].sources:
            if isinstance(source, MimicSource):
                texts = f"MIMIC-III, which must be applied for ({source.apply}"
            elif isinstance(source, TextSource) and source.origin:
                texts = f"texts that you provide ({source.name}: {source.origin}"
            else:
                continue
            if self.graph.folders.find(source.local) is None:
                return f"is pretrained here on {texts}; then set local_files: {source.local})"
        return None
