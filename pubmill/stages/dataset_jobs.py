"""Datasets: their raw files and their conversion."""

from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes.datasets import ConceptsRecipe, ConversionRecipe
from pubmill.specs import File, LocalFile
from pubmill.stages.dataset_recipes import conversion_recipe
from pubmill.stages.stage import HOUR, GraphPart, Inputs, Needs, Stage


class Datasets(GraphPart):
    """Raw files and conversion of datasets."""

    def recipe(self, dataset: str) -> ConversionRecipe:
        """Return the ConversionRecipe of a dataset."""
        return conversion_recipe(dataset, self._specs.datasets[dataset])

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
        self.graph.access.check(dataset)
        return list(self.inputs(dataset).values())

    def arguments(self, dataset: str) -> list[str]:
        """Return the conversion's arguments that name the raw files."""
        inputs = self.inputs(dataset).items()
        return [text for role, path in inputs for text in ("--input", f"{role}={path}")]

    def has_concepts(self, dataset: str) -> bool:
        """Return whether identifiers of the dataset's mentions are known."""
        return self._specs.datasets[dataset].concepts is not None and not self.is_made_up(dataset)

    def concept_inputs(self, dataset: str) -> dict[str, list[str]]:
        """Return the examples of a dataset, and the copies of its corpus with identifiers."""
        spec = self._specs.datasets[dataset]
        if spec.concepts is None or not self.has_concepts(dataset):
            raise PubmillError(
                f"{dataset} has no identifiers: its spec names no files with them (`concepts`), or the scale "
                "has made-up examples"
            )
        return {
            "examples": [self._paths.examples(dataset, split) for split in spec.splits],
            "copies": [self.copy(file) for file in spec.concepts.files],
        }

    def concepts_recipe(self, dataset: str) -> ConceptsRecipe:
        """Return the ConceptsRecipe of a dataset."""
        spec = self._specs.datasets[dataset]
        return ConceptsRecipe(dataset=dataset, splits=spec.splits, access=spec.access)

    def is_made_up(self, dataset: str) -> bool:
        """Return whether the scale gives the dataset other files than the published ones."""
        return dataset in self._specs.scale.datasets

    def variants(self, dataset: str) -> list[str]:
        """Return all forms of a dataset, itself included: `chemprot@blurb`, `chemprot@blue` ..."""
        base = dataset.partition("@")[0]
        return [name for name in self._specs.datasets if name.partition("@")[0] == base]


class Convert(Stage):
    """Examples of a dataset."""

    name, group, label = "convert", "convert", "Converting {wildcards.dataset}"
    version = 2
    needs = Needs(2_000, HOUR)
    read_by_name = ("pubmill/convert/*.py",)  # by specs

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {"raw": self.graph.datasets.conversion_inputs(wildcards.dataset)}

    def recipe_of(self, wildcards: Any) -> ConversionRecipe:
        return self.graph.datasets.recipe(wildcards.dataset)

    def described(self, wildcards: Any) -> Any:
        sources = self._specs.datasets[wildcards.dataset].sources.items()
        files = {role: file.model_dump(mode="json") for role, file in sources}
        return [self.recipe_of(wildcards), files]


class Concepts(Stage):
    """Documents and identifiers of a dataset."""

    name, group = "concepts", "convert"
    label = "Finding documents and identifiers of {wildcards.dataset}"
    version = 1

    def inputs_of(self, wildcards: Any) -> Inputs:
        return {**self.graph.datasets.concept_inputs(wildcards.dataset)}

    def recipe_of(self, wildcards: Any) -> ConceptsRecipe:
        return self.graph.datasets.concepts_recipe(wildcards.dataset)
