"""The graph of a study: one part for each stage."""

from pathlib import Path

from pubmill.graph.audit_jobs import AuditJobs
from pubmill.graph.cell_records import Cells
from pubmill.graph.checklist_jobs import ChecklistJobs
from pubmill.graph.contamination_jobs import ContaminationJobs
from pubmill.graph.content_digests import Digests
from pubmill.graph.contradiction_jobs import ContradictionJobs
from pubmill.graph.corpus_jobs import Corpora
from pubmill.graph.crate_jobs import Crate
from pubmill.graph.dataset_access import DatasetAccess
from pubmill.graph.dataset_facts import DatasetFacts
from pubmill.graph.dataset_jobs import Datasets
from pubmill.graph.dataset_page_jobs import DatasetPages
from pubmill.graph.fact_table_jobs import FactTables
from pubmill.graph.model_access import ModelAccess
from pubmill.graph.model_facts import ModelFacts
from pubmill.graph.model_jobs import Models
from pubmill.graph.overlap_jobs import OverlapJobs
from pubmill.graph.pipelines import Pipelines
from pubmill.graph.pretrainings import Pretrainings
from pubmill.graph.proof_jobs import ProofJobs
from pubmill.graph.record_digests import RecordDigests
from pubmill.graph.record_status import Records
from pubmill.graph.report_jobs import ReportJobs
from pubmill.graph.requests import Requests
from pubmill.graph.runs import Runs
from pubmill.graph.scope import Scope
from pubmill.graph.seed_counts import SeedCounts
from pubmill.graph.selection_jobs import SelectionJobs
from pubmill.graph.source_jobs import Sources
from pubmill.graph.study_files import Publication
from pubmill.graph.table_datasets import TableDatasets
from pubmill.graph.table_jobs import Tables
from pubmill.graph.table_models import TableModels
from pubmill.graph.transfer_jobs import TransferJobs
from pubmill.graph.user_folders import UserFolders
from pubmill.graph.vocabularies import Vocabularies
from pubmill.recipes.audits import AuditRecipe
from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.storage.result_paths import paths_of_scale


class Graph:
    """The artefacts of one study: the path, inputs and recipe of each.

    `every_seed`: with all seeds of protocols that decide how many they run, to plan which of them to make.
    """

    def __init__(self, study: Study, specs: Specs, every_seed: bool = False) -> None:
        self.study = study
        self.specs = specs
        self.paths = paths_of_scale(study.scale, study.results, study.own_tables)
        self.results = self.paths.results
        self.digests = Digests(Path(self.results) / ".digests.jsonl")
        self.folders = UserFolders(study)
        self.requests = Requests(study, specs)
        self.seed_counts = SeedCounts(study, self.paths, every_seed)
        self._add_data()
        self._add_models()
        self._add_runs()
        self._add_tables()
        self._add_publication()

    def _add_data(self) -> None:
        study, specs, paths, folders = self.study, self.specs, self.paths, self.folders
        self.sources = Sources(specs, folders, self.digests)
        self.corpora = Corpora(specs, paths, folders)
        self.selection = SelectionJobs(specs, paths, self.corpora)
        self.access = DatasetAccess(study, specs, paths, folders)
        self.datasets = Datasets(specs, paths, self.access)

    def _add_models(self) -> None:
        study, specs, paths, folders = self.study, self.specs, self.paths, self.folders
        self.pretrainings = Pretrainings(specs, paths)
        self.models = Models(study, specs, paths, folders, self.digests, self.pretrainings)
        self.pipelines = Pipelines(study, specs, folders, self.digests)
        self.model_access = ModelAccess(specs, folders, self.models, self.pipelines)
        self.vocabularies = Vocabularies(study, specs, paths, self.corpora, self.models)

    def _add_runs(self) -> None:
        self.runs = Runs(self.study, self.specs, self.paths, self.seed_counts)
        self.record_digests = RecordDigests(
            self.specs,
            self.pretrainings,
            self.models,
            self.vocabularies,
            self.datasets,
            self.runs,
            self.pipelines,
        )
        self.records = Records(self.paths, self.digests, self.runs, self.pipelines, self.record_digests)

    def _add_tables(self) -> None:
        study, specs, paths = self.study, self.specs, self.paths
        self.table_datasets = TableDatasets(specs, study, self.requests, self.access, self.runs)
        self.cells = Cells(specs, self.runs, self.pipelines)
        self.table_models = TableModels(
            study,
            specs,
            self.requests,
            self.models,
            self.model_access,
            self.table_datasets,
            self.cells,
            self.records,
        )
        self.tables = Tables(
            study,
            specs,
            paths,
            self.runs,
            self.pipelines,
            self.table_datasets,
            self.table_models,
            self.cells,
            self.records,
        )
        self.scope = Scope(
            specs, self.requests, self.models, self.tables, self.table_models, self.table_datasets
        )
        dataset_facts = DatasetFacts(specs, self.datasets, self.table_datasets)
        model_facts = ModelFacts(
            specs,
            self.requests,
            self.folders,
            self.models,
            self.model_access,
            self.vocabularies,
            self.table_datasets,
            self.scope,
        )
        self.fact_tables = FactTables(study, specs, paths, dataset_facts, model_facts)

    def _add_publication(self) -> None:
        study, specs, paths = self.study, self.specs, self.paths
        self.contamination = ContaminationJobs(specs, paths, self.corpora, self.scope)
        self.overlap = OverlapJobs(
            study,
            specs,
            paths,
            self.corpora,
            self.datasets,
            self.models,
            self.pipelines,
            self.runs,
            self.tables,
            self.requests,
            self.scope,
        )
        self.transfers = TransferJobs(study, specs, paths, self.runs, self.scope)
        self.pages = DatasetPages(study, specs, paths, self.datasets)
        self.contradictions = ContradictionJobs(specs, self.tables)
        self.audit = AuditJobs(specs, paths, self.requests, self.runs, self.pipelines, self.tables)
        self.report = ReportJobs(
            study,
            specs,
            paths,
            self.corpora,
            self.models,
            self.pretrainings,
            self.vocabularies,
            self.datasets,
            self.requests,
            self.scope,
            self.audit,
            self.overlap,
        )
        self.checklist = ChecklistJobs(
            study,
            specs,
            paths,
            self.models,
            self.datasets,
            self.runs,
            self.tables,
            self.requests,
            self.scope,
            self.report,
        )
        self.proof = ProofJobs(
            specs, paths, self.runs, self.pipelines, self.tables, self.scope, self.report, self.audit
        )
        self.publication = Publication(
            study, paths, self.requests, self.scope, self.contamination, self.audit, self.overlap
        )
        self.crate = Crate(study, specs, paths, self.datasets, self.scope, self.report, self.publication)

    def check_files(self) -> None:
        """Raise a `PubmillError` if the mirror or files of the user's own are missing or wrong."""
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


def audit_recipe(folder: Path) -> AuditRecipe:
    """Return the recipe of the audit by the specs in a folder, at the scale of the papers."""
    return graph_of_all_tables(folder).audit.recipe()


def graph_of_all_tables(folder: Path) -> Graph:
    """Return the graph of the specs in a folder at the scale of the papers, for a study without jobs."""
    study = Study(study="full", title="", scale="full", tables=())
    return Graph(study, load(folder, study.scale))


def checked_graph(study: Study, specs: Specs) -> Graph:
    """Return the graph of a study whose files are checked."""
    graph = Graph(study, specs)
    graph.check_files()
    return graph
