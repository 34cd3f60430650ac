"""Recipes of asking a language model about a dataset."""

from pubmill.recipes.submissions import Asking, AskRecipe
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.prompt_specs import PromptSpec


def asked_of(spec: DatasetSpec, asking: Asking, prompts: PromptSpec) -> AskRecipe:
    """Return the recipe of asking about a dataset."""
    return AskRecipe(
        asking=asking,
        task=spec.task,
        prompt=prompts.template(spec.name, spec.task),
        mentions=spec.mentions,
        glosses=spec.glosses,
        dummies=spec.dummies,
    )
