"""Dataset recipes that also programs outside of the graph need."""

from typing import Any

from pubmill.errors import PubmillError
from pubmill.specs import DatasetSpec


def conversion_recipe(name: str, spec: DatasetSpec) -> dict[str, Any]:
    """ConversionRecipe of a dataset."""
    return {
        "dataset": name,
        "kind": spec.kind,
        "access": spec.access,
        "splits": list(spec.splits),
        "converter": spec.converter,
        "options": spec.options,
        "duplicates": spec.duplicates,
        "expect": spec.expect,
        "metric": spec.metric,
        "negative": spec.negative,
        "version": spec.version,
    }


def published_recipe(name: str, spec: DatasetSpec) -> dict[str, Any]:
    """PublishedRecipe of a dataset; a `PubmillError` for a dataset without a published form."""
    if spec.published is None:
        raise PubmillError(f"specs/datasets/{name}.yaml has no `published` form to write")
    return {
        "dataset": name,
        "kind": spec.kind,
        "access": spec.access,
        "writer": spec.published.writer,
        "options": spec.published.options,
        "dummies": spec.dummies.model_dump() if spec.dummies else None,
        "files": {split: file.model_dump() for split, file in spec.published.files.items()},
    }
