"""Recipes of asking a language model about a dataset."""

from pubmill.recipes.submissions import Asking, AskRecipe
from pubmill.specs.dataset_specs import DatasetSpec


def asked_of(spec: DatasetSpec, asking: Asking) -> AskRecipe:
    """Return the recipe of asking about a dataset."""
    return AskRecipe(
        asking=asking,
        task=spec.task,
        prompt=spec.prompt,
        mentions=spec.mentions,
        glosses=spec.glosses,
        dummies=spec.dummies,
    )
