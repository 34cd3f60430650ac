"""Tables of results, and the models and datasets that they need."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard

from pubmill.errors import PubmillError
from pubmill.graph.dataset_facts import DatasetFactTargets
from pubmill.graph.records_on_disk import Found
from pubmill.graph.stage_versions import VERSIONS
from pubmill.specs import DatasetSpec, FolderWeights, LearntVocabSpec, Specs, TableSpec
from pubmill.specs.mimic import MimicSource
from pubmill.specs.pretraining_checks import needed_before
from pubmill.specs.study import Study
from pubmill.specs.tables import ColumnSpec, RowSpec
from pubmill.storage.path_lists import by_folder
from pubmill.storage.result_paths import BELOW

NOT_RUN = "not run in this study"
NOT_FOR = "the pipeline is not for this dataset"
NO_SETTING = "the paper's setting is not for this dataset"


COMPARISON_FORMS = ("json", "md", "html")


class TableTargets(DatasetFactTargets):
    """Recipes and inputs of tables of results."""

    COMPARISON_FORMS = COMPARISON_FORMS

    def __init__(self, study: Study, specs: Specs) -> None:
        super().__init__(study, specs)
        self._lacking: dict[str, str | None] = {}
        self._shown_columns: dict[str, list[ColumnSpec]] = {}
        self._found: dict[str, Found] = {}

    def last_steps(self) -> dict[str, int]:
        """Recipes that the study's models are pretrained by, and those run before these, with the last step
        of each that is needed; sorted by name."""
        return self._steps_behind(self.models())

    def _steps_behind(self, models: Iterable[str]) -> dict[str, int]:
        released = self.specs.scale.prefer == "released"
        weights = [self.weights(model) for model in models]
        waiting = [(w["recipe"], w["step"]) for w in weights if w["kind"] == "pretraining"]
        found: dict[str, int] = {}
        while waiting:
            recipe, step = waiting.pop()
            found[recipe] = max(step, found.get(recipe, 0))
            before = needed_before(self.specs.pretraining[recipe], self.specs.models, released)
            waiting += [(one.recipe, one.step or self.steps(one.recipe)[-1]) for one in before]
        return dict(sorted(found.items()))

    def pretrainings(self) -> list[str]:
        """Those recipes."""
        return list(self.last_steps())

    def result_tables(self) -> list[str]:
        """The study's tables of results; the others are of facts."""
        return [table for table in self.study.tables if table in self.specs.tables]

    def wanted_models(self) -> list[str]:
        """Models of all tables of the study, without repetition."""
        named = (column.model for table in self.result_tables() for column in self._columns(table))
        return [model for model in dict.fromkeys(named) if self._wants_model(model)]

    def models(self) -> list[str]:
        """Those of them that can be had and have runs in some table."""
        tables = [(table, self.records(table)) for table in self.result_tables()]
        used = {c.model for table, found in tables for c in self._columns(table) if found.get(c.name)}
        return [model for model in self.wanted_models() if model in used]

    def datasets(self) -> list[str]:
        """Datasets of all tables of the study that are converted, without repetition."""
        tables = [self.specs.tables[table] for table in self.result_tables()]
        rows = [(table, row.dataset) for table in tables for row in table.rows]
        used = [name for table, row in rows if self._scores(table, row) for name in self._used(table, row)]
        shown = [name for table in self.fact_tables() for name in self.shown_datasets(table)]
        return list(dict.fromkeys(used + shown))

    def wanted_datasets(self) -> list[str]:
        """As above, and those behind rows of folds and those that runs begin with."""
        tables = [self.specs.tables[table] for table in self.result_tables()]
        behind = [
            name
            for table in tables
            for row in table.rows
            if self.wants(row.dataset)
            for name in self._used(table, row.dataset)
            if name in self.specs.datasets and self.exists(name)
        ]
        return list(dict.fromkeys([*super().wanted_datasets(), *behind]))

    def _used(self, table: TableSpec, row: str) -> list[str]:
        """The datasets that the runs behind a row are scored on, chosen on, and begin with."""
        protocol = self.specs.protocols[table.protocol]
        parts = self.parts_of_row(table.protocol, row)
        folds = protocol.folds.get(row)
        used = [*parts, *([folds.chosen_on] if folds else [])]
        settings = dict.fromkeys(s for column in table.columns for s in column.setting or (table.setting,))
        for name in used:
            for start in (protocol.start(name, setting) for setting in settings):
                if start is not None and start not in used:
                    used.append(start)
        return used

    def _columns(self, table: str) -> list[ColumnSpec]:
        """Those the table names, then those that join it: by the study, or by their spec if the study wants
        them or records of them are on disk."""
        if table not in self._shown_columns:
            named = self.specs.tables[table].columns
            known = {column.model for column in named if column.setting is None}
            others = {name: spec for name, spec in self.specs.models.items() if name not in known}
            joining = [
                ColumnSpec(model=name, label=spec.label or name)
                for name, spec in others.items()
                if self._joins(table, name)
            ]
            self._shown_columns[table] = [*named, *joining]
        return self._shown_columns[table]

    def _joins(self, table: str, model: str) -> bool:
        by_spec = table in self.specs.models[model].tables
        if self._wants_model(model):
            return by_spec or bool(self.study.models)
        spec, column = self.specs.tables[table], ColumnSpec(model=model, label=model)
        return by_spec and any(
            self.at_hand(self._records(spec, column, row)) for row in self._known_rows(spec)
        )

    def _known_rows(self, table: TableSpec) -> list[str]:
        """The datasets of rows that have a spec, whether or not the study wants them."""
        named = [row.dataset for row in table.rows]
        return [
            name
            for name in named
            if all(part in self.specs.datasets for part in self.parts_of_row(table.protocol, name))
        ]

    def _wants_model(self, model: str | None) -> TypeGuard[str]:
        """Whether the model has a spec and the study's `models:` has it, or there is none."""
        return model in self.specs.models and (self.study.models is None or model in self.study.models)

    def _runs(self, model: str | None) -> TypeGuard[str]:
        return self._wants_model(model) and self.lacks_model(model) is None

    def lacks_model(self, model: str) -> str | None:
        """Why a model can't be had in this run: a pipeline or weights whose folder isn't named, or weights
        that are learnt here from notes that must be applied for; None if it can."""
        if model in self.pipelines():
            return self.lacks_pipeline(model)
        if model not in self._lacking:
            self._lacking[model] = next(self._lacking_of(model), None)
        return self._lacking[model]

    def _with_begun(self, model: str) -> dict[str, None]:
        """The model, and those that its pretrainings begin with or learn from."""
        recipes = [self.specs.pretraining[name] for name in self._steps_behind([model])]
        begun = [name for r in recipes for name in (r.start.model if r.start else None, r.teacher) if name]
        return dict.fromkeys([model, *begun])

    def check_model_folders(self) -> None:
        """That every folder named for a model of the study holds one; one `PubmillError` for all."""
        behind = dict.fromkeys(name for model in self.wanted_models() for name in self._with_begun(model))
        if mistakes := list(filter(None, map(self.folder_mistake, behind))):
            advice = "Correct the folders' names, or leave the models out (`models:` of the study)."
            raise PubmillError("\n".join([*mistakes, advice]))

    def _lacking_of(self, model: str) -> Iterator[str]:
        recipes = [self.specs.pretraining[name] for name in self._steps_behind([model])]
        for name in self._with_begun(model):
            weights = self.specs.models[name].preferred(self.specs.scale.prefer == "released")
            if isinstance(weights, FolderWeights) and self.find_local(weights.local) is None:
                whose = "its weights" if name == model else f"the weights of {name}"
                yield f"needs {whose} in a folder of your own (then set local_files: {weights.local})"
        vocabs = [self.specs.vocabs[recipe.vocab] for recipe in recipes]
        learnt = [vocab.corpus for vocab in vocabs if isinstance(vocab, LearntVocabSpec)]
        for corpus in (*(recipe.corpus for recipe in recipes), *learnt):
            yield from filter(None, [self._lacks_notes(corpus)])

    def _lacks_notes(self, corpus: str) -> str | None:
        for source in self.specs.corpora[corpus].sources:
            if isinstance(source, MimicSource) and self.find_local(source.local) is None:
                return (
                    f"is pretrained here on MIMIC-III, which must be applied for ({source.apply}; then set "
                    f"local_files: {source.local})"
                )
        return None

    def left_out(self) -> list[str]:
        """One line for each dataset and model that the tables want and that can't be had, and why; and for
        each model whose own spec names a table, where the study names others."""
        reasons = {model: self.lacks_model(model) for model in self.wanted_models()} | self._not_named()
        lines = [f"left out of the tables: {model} ({reason})" for model, reason in reasons.items() if reason]
        return [*super().left_out(), *lines]

    def _not_named(self) -> dict[str, str]:
        """Models that join a table of the study by `tables:` of their spec, but that its `models:` lacks."""
        joining = {
            name: [table for table in spec.tables if table in self.study.tables]
            for name, spec in self.specs.models.items()
            if not self._wants_model(name)
        }
        return {
            name: f"its spec names {', '.join(tables)}, which the study runs; add it to the study's `models:`"
            for name, tables in joining.items()
            if tables
        }

    def _scores(self, table: TableSpec, row: str) -> bool:
        parts = self.parts_of_row(table.protocol, row)
        return all(name in self.specs.datasets for name in parts) and self._hinders(table, row) is None

    def _hinders(self, table: TableSpec, row: str) -> str | None:
        """Why a row whose datasets there are isn't run in this study: what the first of them lacks."""
        if not self.wants(row):
            return NOT_RUN
        reasons = ((name, self.lacks(name)) for name in self._used(table, row))
        return next((why if name == row else f"{name} {why}" for name, why in reasons if why), None)

    def records(self, table: str) -> dict[str, dict[str, list[str]]]:
        """The records a table is built from: column -> row -> paths below the results folder."""
        spec = self.specs.tables[table]
        rows = [row for row in spec.rows if self._scores(spec, row.dataset)]
        return {
            column.name: {
                row.name: found for row in rows if (found := self._records(spec, column, row.dataset))
            }
            for column in self._columns(table)
            if self._runs(column.model)
        }

    def _records(self, table: TableSpec, column: ColumnSpec, row: str) -> list[str]:
        """The records of one cell; none where the model is a pipeline that isn't for the row, or none of the
        column's settings is."""
        assert column.model
        parts = self.parts_of_row(table.protocol, row)
        if column.model in self.pipelines():
            found = [self.annotation_records(column.model, part) for part in parts]
            return [record for records in found for record in records] if all(found) else []
        setting = table.setting_of(
            column, self.specs.protocols[table.protocol], self.specs.datasets[parts[0]]
        )
        return [
            BELOW.record(table.protocol, column.model, dataset, setting, seed)
            for dataset in parts
            if setting is not None
            for seed in self.seeds(table.protocol, column.model, dataset, setting)
        ]

    def found(self, table: str) -> Found:
        """The records of a table that are on disk and that no job of this study makes."""
        if table not in self._found:
            self._found[table] = Found({}, {})
            for column, row, paths in self._places_not_run(table):
                at_hand = self.at_hand(paths)
                stale = next(filter(None, map(self.stale, at_hand)), None)
                if stale:
                    self._found[table].stale[f"{column}/{row}"] = (
                        f"{NOT_RUN}; its records on disk are {stale}"
                    )
                elif at_hand:
                    self._found[table].records.setdefault(column, {})[row] = paths
        return self._found[table]

    def _places_not_run(self, table: str) -> Iterator[tuple[str, str, list[str]]]:
        """Column, row and records of the cells that this study makes no records for."""
        spec, made = self.specs.tables[table], self.records(table)
        known = set(self._known_rows(spec))
        for column in self._columns(table):
            for row in spec.rows if column.model in self.specs.models else ():
                if row.dataset in known and row.name not in made.get(column.name, {}):
                    yield column.name, row.name, self._records(spec, column, row.dataset)

    def shown_records(self, table: str) -> dict[str, dict[str, list[str]]]:
        """The records that a table shows, those on disk that no job of this study makes included."""
        made, found = self.records(table), self.found(table).records
        return {column: made.get(column, {}) | found.get(column, {}) for column in [*made, *found]}

    def found_records(self, table: str) -> list[str]:
        """The records of `found` that are on disk."""
        cells = self.found(table).records.values()
        return [path for rows in cells for paths in rows.values() for path in self.at_hand(paths)]

    def record_files(self, table: str) -> list[str]:
        found = self.records(table).values()
        return [
            self.paths.at(path) for by_dataset in found for paths in by_dataset.values() for path in paths
        ]

    def table_recipe(self, table: str) -> dict[str, Any]:
        spec = self.specs.tables[table]
        final = self.specs.protocols[spec.protocol].final
        return {
            **self.heading(spec),
            "comparable": self.specs.scale.comparable,
            "protocol": spec.protocol,
            "setting": spec.setting,
            "aggregate": final.aggregate,
            "equivalence": self._equivalence(spec),
            "rows": [self._row(spec, row) for row in spec.rows],
            "columns": [self._column(column) for column in self._columns(table)],
            "composites": [composite.model_dump() for composite in spec.composites],
            "left_out": spec.left_out,
            "records": {
                column: {row: by_folder(paths) for row, paths in found.items()}
                for column, found in self.shown_records(table).items()
            },
            "found": [
                f"{column}/{row}" for column, rows in self.found(table).records.items() for row in rows
            ],
            "missing": self._missing(table),
            "versions": {"table": VERSIONS["table"]},
        }

    def item_files(self, table: str) -> list[str]:
        """What each document contributes to the records of a table: beside each of them."""
        return [self.paths.contributions(path) for path in self.record_files(table)]

    def comparison_files(self, table: str) -> list[str]:
        return [self.paths.comparisons(table, form) for form in COMPARISON_FORMS]

    def _column(self, column: ColumnSpec) -> dict[str, Any]:
        return {
            "key": column.name,
            "label": column.label,
            "model": column.model,
            "pipeline": column.model in self.pipelines(),
            "published": list(column.published or [column.name]),
            "best_of": list(column.best_of or []),
            "drop": column.drop.model_dump() if column.drop else None,
        }

    def _row(self, table: TableSpec, row: RowSpec) -> dict[str, Any]:
        parts = self.parts_of_row(table.protocol, row.dataset)
        spec: DatasetSpec | None = self.specs.datasets.get(parts[0])
        metric = table.metric_of(row, spec)
        return {
            "key": row.name,
            "dataset": row.dataset,
            "label": row.label,
            "group": row.group,
            "metric": metric,
            "published": row.published or row.dataset.partition("@")[0],
            "printed": row.printed or metric,
            "shown": row.name not in table.hidden,
            "not_comparable": row.not_comparable,
            "conflicts": list(spec.conflicts) if spec else [],
            "folds": parts if parts != [row.dataset] else [],
        }

    def _equivalence(self, table: TableSpec) -> dict[str, Any]:
        """How verdicts are reached, with what it says of each row and composite."""
        rule = self.specs.protocols[table.protocol].equivalence
        composites = {composite.name: "default" for composite in table.composites}
        of = {row.name: row.dataset for row in table.rows} | composites
        return {
            "alpha": rule.alpha,
            "power": rule.power,
            "margins": {
                name: rule.margins.get(dataset, rule.margins["default"]).model_dump()
                for name, dataset in of.items()
            },
            "runs": {row.name: self._runs_behind(table, row.dataset) for row in table.rows},
        }

    def _runs_behind(self, table: TableSpec, row: str) -> int:
        """How many runs of a model the paper had of a dataset, or of its folds together."""
        protocol = self.specs.protocols[table.protocol]
        return sum(map(protocol.runs, self.parts_of_row(table.protocol, row)))

    def _missing(self, table: str) -> dict[str, str]:
        """Why a model's column, a dataset's row or a cell has nothing of ours."""
        spec, found = self.specs.tables[table], self.records(table)
        columns, pipelines = self._columns(table), self.pipelines()
        reasons = {}
        for column in columns:
            if not column.sources and not self._runs(column.model):
                lacking = self.lacks_model(column.model) if self._wants_model(column.model) else None
                reasons[column.name] = column.missing or lacking or NOT_RUN
        for row in spec.rows:
            if not self._scores(spec, row.dataset):
                there = all(
                    name in self.specs.datasets for name in self.parts_of_row(spec.protocol, row.dataset)
                )
                hindered = self._hinders(spec, row.dataset) if there else None
                reasons[row.name] = row.missing or hindered or NOT_RUN
                continue
            for column in columns:
                if row.name not in found.get(column.name, {row.name: []}):
                    why = NOT_FOR if column.model in pipelines else NO_SETTING
                    reasons[f"{column.name}/{row.name}"] = why
        return reasons | self.found(table).stale
