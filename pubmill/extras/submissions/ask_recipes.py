"""Recipes of asking a language model about a dataset."""

from pubmill.recipes.submissions import Asking, AskRecipe, PublishedText
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.prompt_specs import PromptSpec, PublishedPrompt


def asked_of(spec: DatasetSpec, asking: Asking, prompts: PromptSpec) -> AskRecipe:
    """Return the recipe of asking about a dataset."""
    template, published = prompts.template(spec.name, spec.task), None
    if isinstance(template, PublishedPrompt):
        published = PublishedText(place=template.place, sha256=template.sha256)
        template = template.input
    return AskRecipe(
        asking=asking,
        task=spec.task,
        prompt=template,
        mentions=spec.mentions,
        glosses=spec.glosses,
        dummies=spec.dummies,
        published=published,
    )
