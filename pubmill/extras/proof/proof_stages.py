"""The proof of a study, and what each of its tables is recomputed from."""

from collections.abc import Iterable
from pathlib import Path

from pubmill.extras.proof.proofs import ProofRecipe, TableBasisRecipe
from pubmill.recipes.tables import project
from pubmill.stages.dataset_jobs import DatasetNotices
from pubmill.stages.params_text import published_values
from pubmill.stages.stage import HOUR, Needs, Stage
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.privacy import PUBLIC

WITHOUT_ITEMS = ("span",)
"""Kinds of examples whose items are text; a proof has the outcomes of each question."""


class Proof(Stage):
    """Recipes and inputs of a proof."""

    name, group, label = "proof", "report", "Packing the proof {output.proof}"
    version = 3
    needs = Needs(8_000, 4 * HOUR)
    read_by_name = ("pubmill/extras/proof/verifier/*.py",)

    def packed(self) -> list[str]:
        """Return the files of the proof, if the study has tables of results."""
        return self._paths.proof_files(self._study.study) if self.graph.requests.result_tables() else []

    def basis_inputs(self, table: str) -> list[str]:
        """Return what the basis of a table is made from, besides published values."""
        made = self._made([table])
        return [self._paths.table(table, "json"), *made, *map(self._paths.contributions, made)]

    def _made(self, tables: Iterable[str]) -> list[str]:
        """Return the records of tables, and of the tables that they refer to, each once."""
        own, others = self.graph.tables.record_files, self.graph.tables.other_files
        return list(dict.fromkeys(path for table in tables for path in (*own(table), *others(table))))

    def basis_recipe(self, table: str) -> TableBasisRecipe:
        """Return the TableBasisRecipe of a table."""
        return TableBasisRecipe(
            table=self.graph.tables.recipe(table),
            audited=self.graph.audited_tables.table(table),
            versions={"basis": Basis.version},
        )

    def inputs(self) -> list[str]:
        """Return the results that the proof holds or is computed from."""
        tables = self.graph.report.results().tables
        made = self._made(tables)
        return [
            *(self._paths.table(table, "json") for table in tables),
            *(self._paths.comparisons(table, "json") for table in tables),
            *(self._paths.table_basis(table) for table in tables),
            *self.graph.stage(DatasetNotices).reports(),
            *made,
            *map(self._paths.contributions, made),
            *self._item_files(made),
        ]

    def published(self, specs: Path) -> list[str]:
        """Return the published values of the study's tables and of those that they refer to."""
        tables = self.graph.report.results().tables
        others = (other for table in tables for other in self.graph.tables.others(table))
        return [published_values(table, specs) for table in dict.fromkeys([*tables, *others])]

    def recipe(self) -> ProofRecipe:
        """Return the ProofRecipe of the study."""
        return project(
            ProofRecipe,
            self.graph.report.results(),
            open_datasets=tuple(self._open_datasets()),
            notices=tuple(map(self._paths.below, self.graph.stage(DatasetNotices).reports())),
            versions={"proof": self.version},
        )

    def _open_datasets(self) -> list[str]:
        """Return the datasets whose items a proof may hold."""
        specs = ((name, self._specs.datasets[name]) for name in self.graph.scope.datasets())
        return [name for name, one in specs if one.access == PUBLIC and one.kind not in WITHOUT_ITEMS]

    def _item_files(self, records: Iterable[str]) -> list[str]:
        """Return the examples and predictions of open datasets behind these records."""
        runs, known = [run_of(path) for path in records], set(self._open_datasets())
        used = [run for run in runs if run.dataset in known]
        splits = {(run.dataset, self.graph.pipelines.split_of(run)): None for run in used}
        examples = (self._paths.examples(*split) for split in splits)
        return [*examples, *(self._paths.predictions(*run) for run in used)]


class Basis(Stage):
    """What a table is recomputed from in a proof."""

    name, group = "basis", "report"
    label = "Ranking the models of {wildcards.results_table}, for the proof"
    version = 2
    needs = Needs(2_000, 4 * HOUR)
