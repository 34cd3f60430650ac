"""Spec, recipes and source files of one dataset, for tests that need no graph and no other spec."""

from pathlib import Path

from pubmill.recipes.datasets import ConversionRecipe, PublishedRecipe
from pubmill.specs import DatasetSpec, LocalFile
from pubmill.specs.loading import with_base
from pubmill.stages.dataset_recipes import conversion_recipe, published_recipe

SPECS = Path(__file__).resolve().parents[1] / "specs/datasets"


def spec_of(name: str) -> DatasetSpec:
    errors: list[str] = []
    document, _ = with_base(SPECS / f"{name}.yaml", name, errors, "datasets")
    assert not errors
    return DatasetSpec.model_validate(document.value)


def conversion_of(name: str) -> ConversionRecipe:
    return conversion_recipe(name, spec_of(name))


def published_of(name: str) -> PublishedRecipe:
    return published_recipe(name, spec_of(name))


def inputs_of(name: str, mirror: Path) -> dict[str, Path]:
    """Return the dataset's source files in a mirror, by role; licensed ones are below `local/KEY`."""
    return {
        role: mirror / "local" / source.local / source.file
        if isinstance(source, LocalFile)
        else mirror / source.url.removeprefix("https://")
        for role, source in spec_of(name).sources.items()
    }
