"""The graph of a study: what the study requests, and the composition of its stages."""

from collections.abc import Container
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.wording import SHOWN, unknown
from pubmill.recipes.reading import STORED, as_argument
from pubmill.specs import Specs, TableSpec
from pubmill.specs.own_settings import own_column
from pubmill.specs.study import DEMO, Study
from pubmill.specs.table_specs import ColumnSpec
from pubmill.stages.availability import Availability, Digests, UserFolders
from pubmill.stages.corpus_jobs import ContaminationStage, Corpora, SelectDocuments
from pubmill.stages.dataset_jobs import Datasets
from pubmill.stages.fact_table_jobs import FactTableStage
from pubmill.stages.gpus import NO_GPUS, Gpus
from pubmill.stages.model_jobs import Models
from pubmill.stages.pretrainings import Pretrainings
from pubmill.stages.record_status import Records
from pubmill.stages.report_jobs import ReportStage
from pubmill.stages.run_stages import Runs
from pubmill.stages.source_jobs import Sources
from pubmill.stages.stage import GraphPart, Places, Stage, cached, requested_reports, stages
from pubmill.stages.supplied_predictions import SuppliedPredictions
from pubmill.stages.table_jobs import TableStage
from pubmill.stages.vocabularies import Vocabularies
from pubmill.storage.result_paths import paths_of_scale


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
        for model, spec in self._specs.models.items():
            tables = [table for table in spec.tables if table in self._study.tables]
            if tables and not self.graph.requests.has_model(model):
                named = ", ".join(tables)
                reasons[model] = (
                    f"its spec names {named}, which the study runs; add it to the study's `models:`"
                )
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


class Requests(GraphPart):
    """Tables of a study, and the models and datasets that it limits them to."""

    def result_tables(self) -> list[str]:
        """Return the study's tables of results; the others are of facts."""
        return [table for table in self._study.tables if table in self._specs.tables]

    def fact_tables(self) -> list[str]:
        """Return the study's tables of facts; the others are of results."""
        return [table for table in self._study.tables if table in self._specs.fact_tables]

    def has_model(self, model: str | None) -> TypeGuard[str]:
        """Return whether the model has a spec, and the study's `models:` is null or includes it."""
        return model in self._specs.models and (self._study.models is None or model in self._study.models)

    def has_dataset(self, dataset: str) -> bool:
        """Return whether the study's `datasets:` is null or includes the dataset."""
        return self._study.datasets is None or dataset in self._study.datasets


class Scope(GraphPart):
    """The models, pretrainings and datasets behind a study's tables."""

    @cached
    def models(self) -> list[str]:
        """Return the models that have runs in some table."""
        used = {
            self._specs.tables[table].model_of(column, row)
            for table in self.graph.requests.result_tables()
            for column, row, _ in self.graph.tables.cells_with_runs(table)
        }
        return [model for model in self.graph.table_models.wanted() if model in used]

    @cached
    def datasets(self) -> list[str]:
        """Return the datasets of all tables of the study that are converted, without repetition."""
        tables = [self._specs.tables[table] for table in self.graph.requests.result_tables()]
        rows = [(table, dataset) for table in tables for dataset in table.datasets()]
        known, why_not = self._specs.datasets, self.graph.availability
        required = self.graph.table_datasets.required
        used = [name for table, row in rows if not why_not.row(table, row) for name in required(table, row)]
        facts = self.graph.requests.fact_tables()
        named = [name for table in facts for name in self._specs.fact_tables[table].datasets]
        shown = [name for name in named if name in known and not why_not.dataset_of_study(name)]
        return list(dict.fromkeys(used + shown))

    @cached
    def last_steps(self) -> dict[str, int]:
        """Return the recipes that pretrain the study's models, and those run before these, with the last step
        of each that is needed; sorted by name."""
        return self.graph.models.last_steps(self.models())

    def pretrainings(self) -> list[str]:
        """Return the names of the recipes of `last_steps`."""
        return list(self.last_steps())

    def corpora(self) -> list[str]:
        """Return the corpora that the study pretrains on."""
        return sorted({self._specs.pretraining[recipe].corpus for recipe in self.last_steps()})

    def everything(self) -> list[str]:
        """Return the files that a study makes by default: tables, comparisons, its report, and of
        stages of extras those that `targets` return and that `extras:` names."""
        results = self.graph.requests.result_tables()
        return [
            self._paths.report(self._study.study, "html"),
            *(path for table in self._study.tables for path in self._paths.table_files(table)),
            *(path for table in results for path in self._paths.comparison_files(table)),
            *(self.graph.contamination.reports() if self.datasets() else []),
            *(path for name in stages() for path in getattr(self.graph, name).targets()),
            *self.extras(),
        ]

    def extras(self) -> list[str]:
        """Return the files that the study's `extras:` names; a `PubmillError` if no extra has the name."""
        known, names = requested_reports(), self._study.extras
        if faults := [unknown("extra", name, known) for name in names if name not in known]:
            raise PubmillError("\n".join(f"configuration: extras: {fault}" for fault in faults))
        return [self._paths.report(self._study.study, known[name]) for name in names]


Of = TypeVar("Of", bound=GraphPart)
Some = TypeVar("Some", bound=Stage)


def part(kind: type[Of]) -> cached_property[Of]:
    """Return an attribute that constructs a part of the graph when it is first used."""
    return cached_property(lambda graph: kind(graph))


class Graph:
    """The artefacts of one study: the path, inputs and recipe of each. Its parts, and the stages by the names
    of their rules, are constructed when they are first used. `gpus`: the GPUs by whose speed jobs request
    time; `root`: the checkout with the programs that rules start."""

    def __init__(self, study: Study, specs: Specs, gpus: Gpus = NO_GPUS, root: Path = Path()) -> None:
        self.study = study
        self.specs = specs
        self.gpus = gpus
        self.paths = paths_of_scale(study.scale, study.results, study.study, study.own_tables)
        self.results = self.paths.results
        mirror = ["--mirror", study.mirror] if study.mirror else []
        scripts, extras, own = (str(root / name) for name in ("scripts", "pubmill/extras", "specs"))
        self.places = Places(scripts, extras, own, self.results, mirror)
        self.folders = UserFolders(study)
        self.digests = Digests(Path(self.results) / ".digests.jsonl")

    sources = part(Sources)
    requests = part(Requests)
    corpora = part(Corpora)
    selection = part(SelectDocuments)
    availability = part(Availability)
    datasets = part(Datasets)
    pretrainings = part(Pretrainings)
    models = part(Models)
    vocabularies = part(Vocabularies)
    runs = part(Runs)
    supplied = part(SuppliedPredictions)
    records = part(Records)
    table_datasets = part(TableDatasets)
    table_models = part(TableModels)
    tables = part(TableStage)
    scope = part(Scope)
    fact_tables = part(FactTableStage)
    contamination = part(ContaminationStage)
    report = part(ReportStage)

    def stage(self, kind: type[Some]) -> Some:
        """Return the stage of a class."""
        instance = getattr(self, kind.name)
        assert isinstance(instance, kind)
        return instance

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Return the stage of a rule; rules name it so (`graph.pack`), and other code uses `stage`."""
            kind = stages().get(name)
            if kind is None:
                raise AttributeError(f"{type(self).__name__} has no part or stage {name!r}")
            self.__dict__[name] = kind(self)
            return self.__dict__[name]

    def argument(self, recipe: object) -> str:
        """Return a recipe as rules pass it to a program."""
        return as_argument(recipe, Path(self.results) / STORED)

    def check_files(self) -> None:
        """Raise a `PubmillError` if the mirror, files of the user's own, or an extra that the study names are
        missing or wrong."""
        self.scope.extras()
        self.table_datasets.check_scale()
        self.table_datasets.check_folders()
        self.table_models.check_folders()
        self.left_out()  # reports a missing mirror before any job runs
        for recipe in self.scope.pretrainings():
            self.corpora.shards(self.specs.pretraining[recipe].corpus)  # reports missing local files

    def left_out(self) -> list[str]:
        """Return one line for each dataset and model that the tables name but the study leaves out, and for
        each file of predictions that belongs to no dataset."""
        unused = self.supplied.unused_files(self.table_models.wanted())
        return [*self.table_datasets.left_out(), *self.table_models.left_out(), *unused]


def checked_graph(study: Study, specs: Specs) -> Graph:
    """Return the graph of a study whose files are checked."""
    graph = Graph(study, specs)
    graph.check_files()
    return graph
