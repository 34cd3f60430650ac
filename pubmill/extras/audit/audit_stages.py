"""The audit of the papers' published values."""

from pathlib import Path
from typing import Any

from pubmill.extras.audit.audit_recipes import AuditRecipe, StatedRuns
from pubmill.extras.audit.audited_tables import AuditedTables
from pubmill.specs import ProtocolSpec, load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.stages.stage import Stage
from pubmill.storage.result_paths import PAGE_FORMATS

PAGE = "pages/audit"
"""The page of the audit below the results, without extension."""


class AuditStage(Stage):
    """Recipe of the audit of the published values."""

    name, group, label = "audit", "report", "Auditing the published values"
    version = 6
    read_by_name = ("pubmill/extras/audit/templates/*",)

    def files(self) -> list[str]:
        """Return the page in all formats."""
        return [f"{self.page}.{form}" for form in PAGE_FORMATS]

    @property
    def page(self) -> str:
        """The path of the page without extension."""
        return self._paths.at(PAGE)

    def targets(self) -> list[str]:
        """Return the page, for a study of results at a scale with the test splits and runs of the papers."""
        made = self._specs.scale.comparable and self.graph.requests.result_tables()
        return self.files() if made else []

    def reported(self) -> list[str]:
        return self.targets()[:1]

    def recipe_of(self, wildcards: Any) -> AuditRecipe:
        """Return the audit's recipe; its counts and runs are the papers' only at a comparable scale."""
        return AuditRecipe(
            tables=AuditedTables(self.graph).all(),
            protocols={name: self._stated(spec) for name, spec in self._specs.protocols.items()},
            facts=tuple(name for name in self._specs.fact_tables if "/table" in name),  # not those of a text
            versions={"audit": self.version},
        )

    def _stated(self, protocol: ProtocolSpec) -> StatedRuns:
        """Return the runs of a protocol; of a row with folds, those of all its folds together."""
        folds = {name: sum(map(protocol.runs, one.reported)) for name, one in protocol.folds.items()}
        statement = {key: one for keys, one in protocol.method.items() for key in keys.split(", ")}
        runs, combined = statement.get("final.seeds"), statement.get("folds")
        return StatedRuns(
            aggregate=protocol.final.aggregate,
            runs={**protocol.final.seeds, **folds},
            stated=(runs.section or "") if runs and runs.says else "",
            unstated=tuple(folds) if combined and combined.ours else (),
        )


def graph_of_all_tables(folder: Path) -> Graph:
    """Return the graph of the specs in a folder at the scale of the papers, for a study without jobs."""
    study = Study(study="full", title="", scale="full", tables=())
    return Graph(study, load(folder, study.scale))


def audit_recipe(folder: Path) -> AuditRecipe:
    """Return the recipe of the audit by the specs in a folder, at the scale of the papers."""
    return graph_of_all_tables(folder).stage(AuditStage).recipe_of(None)
