"""The archive of a study."""

from collections.abc import Mapping
from types import MappingProxyType

from pubmill.errors import PubmillError
from pubmill.extras.archive.archive_recipes import ArchiveRecipe, Terms
from pubmill.recipes.tables import TableRecipe
from pubmill.stages.stage import HOUR, Needs, Stage
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.privacy import PUBLIC
from pubmill.storage.result_paths import BELOW, source_of_record

OF_THE_MACHINE = {"results", "mirror", "local_files", "save_minutes", "container"}
"""Keys of a study that say where files are, or how a machine is used."""


class Archive(Stage):
    """Recipe and inputs of the archive."""

    name, group, label = "archive", "report", "Packing the archive {output}"
    version = 1
    needs = Needs(4_000, HOUR)
    words = MappingProxyType({"archive": "archive.zip"})

    def inputs(self) -> list[str]:
        """Return what the archive holds that jobs of the study make, and the records of its source files."""
        recipe = self.recipe(self.sources())
        made = [path for path in recipe.records if path not in recipe.found]
        below = [*recipe.files, *made, *map(BELOW.contributions, made), *recipe.sources]
        for path in (path for path in made if recipe.records[path]):
            run = run_of(path)
            below += [BELOW.predictions(*run), BELOW.training(*run), recipe.records[path]]
        return [self._paths.at(path) for path in dict.fromkeys(below)]

    def sources(self) -> dict[str, str]:
        """Return the records of the study's source files with the licences of datasets' files; for a file
        that several datasets share, that of the first."""
        licences: dict[str, str] = {}
        for dataset in self.graph.scope.datasets():
            for path in self.graph.datasets.inputs(dataset).values():
                licences.setdefault(self._paths.below(path), self._specs.datasets[dataset].licence)
        records = self.graph.report.source_records()
        return {record: licences.get(source_of_record(record), "") for record in records}

    def recipe(self, sources: dict[str, str]) -> ArchiveRecipe:
        """Return the ArchiveRecipe of the study."""
        tables, graph = self.graph.requests.result_tables(), self.graph
        if not tables:
            raise PubmillError(f"study {self._study.study} has no tables of results that could be archived")
        recipes = {table: graph.tables.recipe(table) for table in tables}
        others = {name: one for recipe in recipes.values() for name, one in recipe.others.items()}
        parts = [*recipes.values(), *(one for recipe in recipes.values() for one in recipe.others.values())]
        records = dict.fromkeys(path for recipe in parts for path in _paths(recipe))
        made = {path for table in tables for path in map(self._paths.below, graph.tables.record_files(table))}
        found = graph.records.at_hand([path for path in records if path not in made])
        behind = {path: self._examples(path) for path in records if path in made or path in found}
        access, models, supplied = graph.access, graph.model_access, graph.pipelines.supplied
        reasons = {name: access.obstacle(name) for name in self._specs.datasets}
        of_models = {name: models.obstacle(name) for name in self._specs.models}
        return ArchiveRecipe(
            study=self._study.study,
            title=self._study.title,
            scale=self._study.scale,
            scale_title=self._specs.scale.title,
            configuration=self._study.model_dump(mode="json", exclude=OF_THE_MACHINE),
            tables=tuple(tables),
            published=tuple(dict.fromkeys([*tables, *others])),
            files=tuple(self._files(tables)),
            records=behind,
            found=tuple(found),
            stale=self._stale([*tables, *others], behind),
            lacking_datasets={name: why for name, why in reasons.items() if why},
            lacking_models={name: why for name, why in of_models.items() if why},
            supplied={
                model: {dataset: tuple(sorted(seeds)) for dataset, seeds in supplied.files(model).items()}
                for model in supplied.names()
                if supplied.files(model)
            },
            datasets=self._terms(behind),
            sources=sources,
            versions={"archive": self.version},
        )

    def _files(self, tables: list[str]) -> list[str]:
        """Return the files of tables and comparisons, and what tables show beside records."""
        paths, graph = self._paths, self.graph
        named = [
            *(
                path
                for table in tables
                for path in (*paths.table_files(table), *paths.comparison_files(table))
            ),
            *(path for table in tables for path in graph.tables.floor_files(table)),
            *graph.requests.verdicts(),
        ]
        return list(dict.fromkeys(map(paths.below, named)))

    def _examples(self, record: str) -> str:
        """Return the examples that a record was scored on, or "" if their dataset is not public."""
        run = run_of(record)
        is_public = self._specs.datasets[run.dataset].access == PUBLIC
        return BELOW.examples(run.dataset, self.graph.pipelines.split_of(run)) if is_public else ""

    def _stale(self, tables: list[str], shown: Mapping[str, str]) -> dict[str, str]:
        """Return records on disk that tables do not show, and why."""
        cells = (cell for table in tables for cell in self.graph.tables.known_cells(table))
        known = dict.fromkeys(path for *_, paths in cells for path in paths if path not in shown)
        reasons = ((path, self.graph.records.stale(path)) for path in self.graph.records.at_hand(list(known)))
        return {path: why for path, why in reasons if why}

    def _terms(self, records: Mapping[str, str]) -> dict[str, Terms]:
        names = sorted({run_of(path).dataset for path in records})
        specs = {name: self._specs.datasets[name] for name in names}
        return {
            name: Terms(access=one.access, licence=one.licence, apply=one.apply or "")
            for name, one in specs.items()
        }


def _paths(recipe: TableRecipe) -> list[str]:
    return [path for rows in recipe.records.values() for paths in rows.values() for path in paths]
