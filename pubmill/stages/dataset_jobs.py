"""Datasets: their raw files, their conversion, and what their pages in a report show."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar

from pubmill.errors import PubmillError
from pubmill.recipes.datasets import ConversionRecipe, SentencesRecipe
from pubmill.recipes.report import PageRecipe, PageSource
from pubmill.recipes.tables import project
from pubmill.specs import File, LocalFile
from pubmill.stages.dataset_recipes import conversion_recipe
from pubmill.stages.stage import HOUR, GraphPart, Inputs, Needs, Stage
from pubmill.storage.result_paths import RELATIVE


class Datasets(GraphPart):
    """Raw files and conversion of datasets."""

    def copy(self, file: File | LocalFile) -> str:
        """Return the path of the copy of a source file."""
        if isinstance(file, LocalFile):
            return self._paths.local_source(file.local, file.file)
        return self._paths.source_of_url(file.url)

    def inputs(self, dataset: str) -> dict[str, str]:
        """Return the raw files of a dataset, by role."""
        return {role: self.copy(file) for role, file in self._specs.datasets[dataset].sources.items()}

    def conversion_inputs(self, dataset: str) -> list[str]:
        """Return the raw files of a dataset to convert; a `PubmillError` if they are unavailable."""
        self.graph.availability.check(dataset)
        return list(self.inputs(dataset).values())

    def arguments(self, dataset: str) -> list[str]:
        """Return the conversion's arguments that name the raw files."""
        inputs = self.inputs(dataset).items()
        return [text for role, path in inputs for text in ("--input", f"{role}={path}")]

    def has_copies(self, dataset: str) -> bool:
        """Return whether the spec names copies of the corpus, and the scale uses the published files."""
        return bool(self._specs.datasets[dataset].copies) and not self.is_made_up(dataset)

    def is_made_up(self, dataset: str) -> bool:
        """Return whether the scale gives the dataset other files than the published ones."""
        return dataset in self._specs.scale.datasets

    def scale_title(self, datasets: Iterable[str]) -> str:
        """Return the title of the scale for what is made of some datasets: whether they are made up."""
        scale = self._specs.scale
        known, obstacle = self._specs.datasets, self.graph.availability.dataset
        run = [name for name in dict.fromkeys(datasets) if name in known and obstacle(name) is None]
        own = [name for name in run if scale.made_up and not self.is_made_up(name)]
        if not own:
            return scale.title
        return scale.own_title if own == run else f"{scale.title} (data of your own: {', '.join(own)})"

    def variants(self, dataset: str) -> list[str]:
        """Return all forms of a dataset, itself included: `chemprot@blurb`, `chemprot@blue` ..."""
        base = dataset.partition("@")[0]
        return [name for name in self._specs.datasets if name.partition("@")[0] == base]

    def page(self, dataset: str) -> PageRecipe:
        """Return the recipe of a dataset's page: values of its spec; the numbers are on its card."""
        spec, inputs = self._specs.datasets[dataset], self.inputs(dataset)
        sources = tuple(  # not a mapping, as its order would be lost on the way to the page
            _page_source(role, file, self._paths.source_record(self._paths.below(inputs[role])))
            for role, file in spec.sources.items()
        )
        return project(
            PageRecipe,
            spec,
            scale=self._study.scale,
            scale_title=self._specs.scale.title,
            made_up=self.is_made_up(dataset),
            card=RELATIVE.card(dataset),
            sources=sources,
            published=spec.published.files if spec.published else {},
            variants=tuple(name for name in self.variants(dataset) if name != dataset),
        )


class Convert(Stage):
    """Examples of a dataset."""

    name, group, label = "convert", "convert", "Converting {wildcards.dataset}"
    version = 2
    part_versions: ClassVar[Mapping[str, int]] = {"spans of texts": 2}
    needs = Needs(2_000, HOUR)
    read_by_name = ("pubmill/convert/*.py",)  # by specs

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return `spans of texts` for JSON of annotation tools, whose documents may have no ids."""
        form = self._specs.datasets[wildcards.dataset].options.get("form")
        return ("spans of texts",) if form == "spans" else ()

    def recipe_of(self, wildcards: Any) -> ConversionRecipe:
        return conversion_recipe(wildcards.dataset, self._specs.datasets[wildcards.dataset])


class SentenceDocuments(Stage):
    """Documents of a dataset's sentences."""

    name, group, label = "sentence_documents", "convert", "Finding documents of {wildcards.dataset}"
    version = 1

    def inputs_of(self, wildcards: Any) -> Inputs:
        dataset = wildcards.dataset
        if not self.graph.datasets.has_copies(dataset):
            raise PubmillError(
                f"{dataset}: its spec names no `copies` with its documents, or the scale has made-up examples"
            )
        spec = self._specs.datasets[dataset]
        return {
            "examples": [self._paths.examples(dataset, split) for split in spec.splits],
            "copies": [self.graph.datasets.copy(file) for file in spec.copies],
        }

    def recipe_of(self, wildcards: Any) -> SentencesRecipe:
        spec = self._specs.datasets[wildcards.dataset]
        return SentencesRecipe(dataset=wildcards.dataset, splits=spec.splits, access=spec.access)


def _page_source(role: str, file: File | LocalFile, record: str) -> PageSource:
    """Return the origin of a source file, without paths of this machine, and how the file is checked."""
    if isinstance(file, LocalFile):
        place = f"{file.file}, in the folder local_files.{file.local}"
        check = "sha256" if file.sha256 else None
        return PageSource(role=role, place=place, url=None, check=check, record=record)
    known = "sha256" if file.sha256 else "git_blob"
    check = f"not checked: {file.unchecked}" if file.unchecked else known
    return PageSource(role=role, place=file.url, url=file.url, check=check, record=record)
