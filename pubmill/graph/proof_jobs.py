"""The proof of a study, and what each of its tables is recomputed from."""

from collections.abc import Iterable
from pathlib import Path

from pubmill.graph.audit_jobs import AuditJobs
from pubmill.graph.headings import published_values
from pubmill.graph.pipelines import Pipelines
from pubmill.graph.report_jobs import ReportJobs
from pubmill.graph.runs import Runs
from pubmill.graph.scope import Scope
from pubmill.graph.stage_versions import VERSIONS
from pubmill.graph.table_jobs import Tables
from pubmill.recipes.proofs import ProofRecipe, TableBasisRecipe
from pubmill.specs import Specs
from pubmill.storage.names_in_paths import RunPath, run_of
from pubmill.storage.privacy import PUBLIC
from pubmill.storage.result_paths import Paths

WITHOUT_ITEMS = ("span",)
"""Kinds of examples whose items are text; a proof has the outcomes of each question."""


class ProofJobs:
    """Recipes and inputs of a proof."""

    def __init__(
        self,
        specs: Specs,
        paths: Paths,
        runs: Runs,
        pipelines: Pipelines,
        tables: Tables,
        scope: Scope,
        report: ReportJobs,
        audit: AuditJobs,
    ) -> None:
        self._specs = specs
        self._paths = paths
        self._runs = runs
        self._pipelines = pipelines
        self._tables = tables
        self._scope = scope
        self._report = report
        self._audit = audit

    def basis_inputs(self, table: str) -> list[str]:
        """Return what the basis of a table is made from, besides published values: the table, and the records
        of its own and of the tables that it refers to."""
        made = dict.fromkeys([*self._tables.record_files(table), *self._tables.other_files(table)])
        return [self._paths.table(table, "json"), *made, *map(self._paths.contributions, made)]

    def basis_recipe(self, table: str) -> TableBasisRecipe:
        """Return the TableBasisRecipe of a table."""
        return TableBasisRecipe(
            table=self._tables.recipe(table),
            audited=self._audit.table(table),
            versions={"basis": VERSIONS["basis"]},
        )

    def inputs(self) -> list[str]:
        """Return the results that the proof holds or is computed from."""
        tables = self._report.results().tables
        made = dict.fromkeys(
            path
            for table in tables
            for path in (*self._tables.record_files(table), *self._tables.other_files(table))
        )
        return [
            *(self._paths.table(table, "json") for table in tables),
            *(self._paths.comparisons(table, "json") for table in tables),
            *(self._paths.table_basis(table) for table in tables),
            *made,
            *map(self._paths.contributions, made),
            *self._item_files(made),
        ]

    def published(self, specs: Path) -> list[str]:
        """Return the published values of the study's tables and of those that they refer to."""
        tables = self._report.results().tables
        others = (other for table in tables for other in self._tables.others(table))
        return [published_values(table, specs) for table in dict.fromkeys([*tables, *others])]

    def recipe(self) -> ProofRecipe:
        """Return the ProofRecipe of the study."""
        of = self._report.results()
        return ProofRecipe(
            study=of.study,
            title=of.title,
            scale=of.scale,
            scale_title=of.scale_title,
            comparable=of.comparable,
            tables=of.tables,
            open_datasets=tuple(self._open_datasets()),
            versions={"proof": VERSIONS["proof"]},
        )

    def _open_datasets(self) -> list[str]:
        """Return the datasets whose items a proof may hold."""
        specs = {name: self._specs.datasets[name] for name in self._scope.datasets()}
        return [
            name for name, spec in specs.items() if spec.access == PUBLIC and spec.kind not in WITHOUT_ITEMS
        ]

    def _item_files(self, records: Iterable[str]) -> list[str]:
        """Return the examples and predictions of open datasets behind these records."""
        runs, known = [run_of(path) for path in records], set(self._open_datasets())
        used = [run for run in runs if run.dataset in known]
        splits = {(run.dataset, self._scored_split(run)): None for run in used}
        examples = (self._paths.examples(*split) for split in splits)
        return [*examples, *(self._paths.predictions(*run) for run in used)]

    def _scored_split(self, run: RunPath) -> str:
        if run.model in self._pipelines.names():
            return self._pipelines.split(run.model, run.dataset)
        return self._runs.scored_split(run.protocol, run.dataset)
