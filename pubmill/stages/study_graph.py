"""The graph of a study: what the study requests, and the composition of its stages."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from pubmill.recipes.reading import STORED, as_argument
from pubmill.specs import Specs
from pubmill.specs.study import Study
from pubmill.stages.all_stages import stages
from pubmill.stages.availability import Availability
from pubmill.stages.corpus_jobs import ContaminationStage, Corpora
from pubmill.stages.dataset_jobs import DatasetPageStage, Datasets
from pubmill.stages.fact_table_jobs import FactTableStage
from pubmill.stages.gpus import NO_GPUS, Gpus
from pubmill.stages.model_jobs import Models
from pubmill.stages.pipelines import Pipelines
from pubmill.stages.pretrainings import Pretrainings
from pubmill.stages.record_status import Records
from pubmill.stages.report_jobs import ContradictionsStage, ReportStage
from pubmill.stages.runs import Runs
from pubmill.stages.selection_jobs import SelectDocuments
from pubmill.stages.source_jobs import Sources
from pubmill.stages.stage import GraphPart, Places, Stage, cached
from pubmill.stages.table_jobs import TableStage
from pubmill.stages.table_members import TableDatasets, TableModels
from pubmill.stages.user_folders import Digests, UserFolders
from pubmill.stages.vocabularies import Vocabularies
from pubmill.storage.result_paths import paths_of_scale


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

    def models_to_add(self) -> dict[str, list[str]]:
        """Return model -> the study's tables that its spec names, for models not in the study's `models:`."""
        tables = {
            name: [table for table in spec.tables if table in self._study.tables]
            for name, spec in self._specs.models.items()
            if not self.has_model(name)
        }
        return {name: named for name, named in tables.items() if named}


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
        of, why_not = self.graph.table_datasets, self.graph.availability.row
        used = [name for table, row in rows if not why_not(table, row) for name in of.required(table, row)]
        shown = [name for table in self.graph.requests.fact_tables() for name in of.of_fact_table(table)]
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
        """Return the files that a study makes by default: tables, comparisons, pages, its report, and of
        stages of extras those that `targets` return."""
        results = self.graph.requests.result_tables()
        return [
            self._paths.report(self._study.study, "html"),
            *(path for table in self._study.tables for path in self._paths.table_files(table)),
            *(path for table in results for path in self._paths.comparison_files(table)),
            *(path for dataset in self.datasets() for path in self._paths.page_files(dataset)),
            *self._paths.contradiction_files(),
            *(self.graph.contamination.reports() if self.datasets() else []),
            *(path for name in stages() for path in getattr(self.graph, name).targets()),
        ]


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
    pipelines = part(Pipelines)
    vocabularies = part(Vocabularies)
    runs = part(Runs)
    records = part(Records)
    table_datasets = part(TableDatasets)
    table_models = part(TableModels)
    tables = part(TableStage)
    scope = part(Scope)
    fact_tables = part(FactTableStage)
    contamination = part(ContaminationStage)
    pages = part(DatasetPageStage)
    contradictions = part(ContradictionsStage)
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
        """Raise a `PubmillError` if the mirror or files of the user's own are missing or wrong."""
        self.table_datasets.check_scale()
        self.table_datasets.check_folders()
        self.table_models.check_folders()
        self.left_out()  # reports a missing mirror before any job runs
        for recipe in self.scope.pretrainings():
            self.corpora.shards(self.specs.pretraining[recipe].corpus)  # reports missing local files

    def left_out(self) -> list[str]:
        """Return one line for each dataset and model that the tables name but the study leaves out, and for
        each file of predictions that belongs to no dataset."""
        unused = self.pipelines.supplied.unused_files(self.table_models.wanted())
        return [*self.table_datasets.left_out(), *self.table_models.left_out(), *unused]


def checked_graph(study: Study, specs: Specs) -> Graph:
    """Return the graph of a study whose files are checked."""
    graph = Graph(study, specs)
    graph.check_files()
    return graph
