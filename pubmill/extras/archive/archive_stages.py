"""The archive of a study."""

from collections.abc import Iterator
from types import MappingProxyType

from pubmill.errors import PubmillError
from pubmill.extras.archive.archive_recipes import ArchiveRecipe
from pubmill.recipes.tables import project
from pubmill.stages.stage import Stage
from pubmill.storage.privacy import PUBLIC
from pubmill.storage.result_paths import RELATIVE, manifest_of, run_of

OF_THE_MACHINE = {"results", "mirror", "local_files", "save_minutes", "container"}
"""Keys of a study that say where files are, or how a machine is used."""


class Archive(Stage):
    """Recipe and inputs of the archive."""

    name, group, label = "archive", "report", "Packing the archive {output}"
    version = 1
    words = MappingProxyType({"archive": "archive.zip"})

    def inputs(self) -> list[str]:
        """Return what the archive holds that jobs of the study make."""
        recipe = self.recipe()
        made = [path for path in recipe.records if path not in recipe.found]
        below = [*recipe.files, *map(manifest_of, made)]
        for path in (path for path in made if recipe.records[path]):
            below += [RELATIVE.runs(run_of(path).run), recipe.records[path]]
        return [self._paths.at(path) for path in dict.fromkeys(below)]

    def recipe(self) -> ArchiveRecipe:
        """Return the ArchiveRecipe of the study."""
        graph, below = self.graph, self._paths.below
        tables, supplied = graph.requests.result_tables(), graph.supplied
        kinds = (self._paths.table_files, self._paths.comparison_files)
        files = [file for name in tables for of in kinds for file in of(name)]
        if not tables:
            raise PubmillError(f"study {self._study.study} has no tables of results that could be archived")
        own = [graph.tables.recipe(table) for table in tables]
        published = dict.fromkeys([*tables, *(name for recipe in own for name in recipe.others)])
        parts = [part for recipe in own for part in (recipe, *recipe.others.values())]
        cells = [paths for part in parts for rows in part.records.values() for paths in rows.values()]
        shown = dict.fromkeys(path for paths in cells for path in paths)
        made = {path for table in tables for path in graph.tables.made_records(table)}
        found = graph.records.at_hand([path for path in shown if path not in made])
        records = {path: self._examples(path) for path in shown if path in made or path in found}
        lacking = {name: graph.availability.dataset(name) for name in self._specs.datasets}
        without = {name: graph.availability.model(name) for name in self._specs.models}
        return project(
            ArchiveRecipe,
            self._study,
            scale_title=self._specs.scale.title,
            configuration=self._study.model_dump(mode="json", exclude=OF_THE_MACHINE),
            tables=tuple(tables),
            published=tuple(published),
            files=tuple(dict.fromkeys(map(below, files))),
            records=records,
            found=tuple(found),
            stale=dict(self._stale([*published], set(records))),
            lacking_datasets={name: why for name, why in lacking.items() if why},
            lacking_models={name: why for name, why in without.items() if why},
            supplied={
                model: {dataset: tuple(sorted(seeds)) for dataset, seeds in supplied.files(model).items()}
                for model in supplied.names()
            },
            terms={
                name: self._terms(name) for name in sorted({run_of(path).run.dataset for path in records})
            },
            versions={"archive": self.version},
        )

    def _examples(self, record: str) -> str:
        """Return the examples that a record was scored on, or "" if their dataset is not public."""
        run = run_of(record).run
        is_public = self._specs.datasets[run.dataset].access == PUBLIC
        return RELATIVE.examples(run.dataset, self.graph.supplied.split_of(run)) if is_public else ""

    def _terms(self, dataset: str) -> str:
        spec = self._specs.datasets[dataset]
        held = "scored examples, predictions, records" if spec.access == PUBLIC else "records, contributions"
        where = f"; access: {spec.access}, apply at {spec.apply}" if spec.apply else ""
        return f"{held}. Licence: {' '.join(spec.licence.split())}{where}"

    def _stale(self, tables: list[str], shown: set[str]) -> Iterator[tuple[str, str]]:
        """Yield records on disk that tables do not show, and why."""
        cells = (cell for table in tables for cell in self.graph.tables.known_cells(table))
        known = dict.fromkeys(path for *_, paths in cells for path in paths if path not in shown)
        for path in self.graph.records.at_hand([*known]):
            if why := self.graph.records.stale(path):
                yield path, why
