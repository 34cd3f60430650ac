"""The RO-Crate of a study."""

from pubmill.extras.crate.crate_recipes import CrateAuthor, CrateRecipe
from pubmill.recipes.tables import project
from pubmill.stages.stage import Stage
from pubmill.storage.privacy import LOCAL

OF_THE_MACHINE = {"results", "mirror", "local_files", "save_minutes"}
"""Keys of a study that say where files are, or how a machine is used."""


class Crate(Stage):
    """Recipe and inputs of the RO-Crate."""

    name, group, label = "crate", "report", "Packing the RO-Crate {output}"
    version = 4

    def inputs(self) -> list[str]:
        """Return the results that the crate holds, and the records of the source files that it names."""
        return [*self.graph.publication.files(), *map(self._paths.at, self.graph.report.source_records())]

    def recipe(self) -> CrateRecipe:
        """Return the CrateRecipe of the study."""
        report, author = self.graph.report.recipe(), self._study.author
        own = self._study.model_dump(mode="json", exclude=OF_THE_MACHINE)
        keys = dict.fromkeys(self._study.local_files, "a folder of your own")
        licences, conditions = self._access_terms()
        return project(
            CrateRecipe,
            report,
            configuration=own | ({"local_files": keys} if keys else {}),
            author=CrateAuthor(name=author.name, orcid=author.orcid) if author else None,
            results=tuple(map(self._paths.below, self.graph.publication.files())),
            licences=licences,
            conditions=conditions,
            versions={"crate": self.version},
        )

    def _access_terms(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the licences of the datasets' source files, and where to apply for them; for files that
        several datasets share, those of the first."""
        licences: dict[str, str] = {}
        conditions: dict[str, str] = {}
        for dataset in self.graph.scope.datasets():
            spec = self._specs.datasets[dataset]
            for path in self.graph.datasets.inputs(dataset).values():
                below = self._paths.below(path)
                licences.setdefault(below, spec.licence)
                if spec.apply or spec.access == LOCAL:
                    conditions.setdefault(below, spec.apply or "")
        return licences, conditions
