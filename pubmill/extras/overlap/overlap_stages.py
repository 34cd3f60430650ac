"""Scores of tables split by what the scored items share with training."""

from collections.abc import Iterator

from pubmill.extras.overlap.overlap_recipes import TRAINING, OverlapRecipe
from pubmill.recipes.corpora import DocumentsRecipe
from pubmill.specs.table_specs import ColumnSpec, RowSpec
from pubmill.stages.dataset_jobs import DatasetNotices
from pubmill.stages.stage import TEMPLATES, Stage
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import BELOW, DOCUMENT_YEARS, PREDICTIONS, RECORD

TASKS = ("ner", "de-identification", "relation")
"""Tasks whose scores count entities or relations."""


class OverlapStage(Stage):
    """Recipes and inputs of the splits."""

    name, group = "overlap", "tables"
    label = "Splitting the scores of {wildcards.results_table} by what items share with training"
    version = 1
    read_by_name = (TEMPLATES,)

    def recipe(self, table: str) -> OverlapRecipe:
        """Return the OverlapRecipe of a table."""
        cells: dict[str, list[str]] = {}
        corpora: dict[str, tuple[str, ...]] = {}
        for column, row, _ in self._cells(table):
            cells.setdefault(column.name, []).append(row.name)
            corpora.setdefault(column.name, self._pretrained_on(column.model))
        return OverlapRecipe(
            cells={column: tuple(rows) for column, rows in cells.items()},
            corpora={column: names for column, names in corpora.items() if names},
            dated=tuple(sorted({name for names in corpora.values() for name in names})),
        )

    def _cells(self, table: str) -> Iterator[tuple[ColumnSpec, RowSpec, list[str]]]:
        """Yield the cells with runs on entities or relations, and their records."""
        for column, row, records in self.graph.tables.cells_with_runs(table):
            if all(self._specs.datasets[name].task in TASKS for name in _datasets_of(records)):
                yield column, row, records

    def _pretrained_on(self, model: str | None) -> tuple[str, ...]:
        """Return the corpora that a model is pretrained on in this study."""
        if model is None or model in self.graph.pipelines.names():
            return ()
        recipes = self.graph.models.last_steps([model])
        return tuple(sorted({self._specs.pretraining[recipe].corpus for recipe in recipes}))

    def run_files(self, table: str) -> list[str]:
        """Return the records and predictions of a table's runs, and the examples to compare them with."""
        records = [path for *_, paths in self._cells(table) for path in paths]
        predictions = [f"{path.removesuffix(RECORD)}{PREDICTIONS}" for path in records]
        runs = list(map(run_of, records))
        splits = {
            (run.dataset, split) for run in runs for split in (*TRAINING, self.graph.pipelines.split_of(run))
        }
        examples = [BELOW.examples(*one) for one in sorted(splits)]
        return [self._paths.at(path) for path in (*records, *predictions, *examples)]

    def files_beside(self, table: str) -> list[str]:
        """Return the concept files of a table's datasets, and contamination and years of its corpora."""
        datasets = {name for *_, records in self._cells(table) for name in _datasets_of(records)}
        corpora = {name for names in self.recipe(table).corpora.values() for name in names}
        return [
            *map(self._paths.concepts, sorted(filter(self.graph.datasets.has_concepts, datasets))),
            *(self._paths.corpus(name, "contamination.json") for name in sorted(corpora)),
            *(self._paths.corpus(name, DOCUMENT_YEARS) for name in sorted(corpora)),
        ]

    def years_recipe(self, corpus: str) -> DocumentsRecipe:
        """Return which documents of the study's datasets are dated, by the sources of a corpus."""
        return self.graph.stage(DatasetNotices).documents(corpus, TRAINING)

    def dated_files(self) -> list[str]:
        """Return the files with the PMIDs of the study's datasets."""
        files = self.graph.stage(DatasetNotices).files(TRAINING).values()
        return [self._paths.at(path) for of_dataset in files for path in of_dataset]


def _datasets_of(records: list[str]) -> list[str]:
    """Return the datasets of records, each once."""
    return list(dict.fromkeys(run_of(path).dataset for path in records))


class DocumentYears(Stage):
    """Years of the datasets' documents."""

    name, group = "document_years", "select"
    label = "Looking up years of datasets' documents in the sources of {wildcards.corpus}"
    version = 1
