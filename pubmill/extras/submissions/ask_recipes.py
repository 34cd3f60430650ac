"""Recipes of asking a language model about a dataset."""

from dataclasses import replace
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.examples.prompts import published_template
from pubmill.recipes.submissions import Asking, AskRecipe, PublishedText
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.model_specs import PromptSpec, PublishedPrompt


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


def with_whole_prompt(recipe: AskRecipe, file: Path | None) -> AskRecipe:
    """Return a recipe whose prompt is the whole one, for a published one with the text of its file."""
    if recipe.published is None:
        return recipe
    if file is None:
        raise PubmillError("the prompt is a published one, and its file is not given (--prompt)")
    return replace(
        recipe, prompt=published_template(file, recipe.published.place, recipe.prompt), published=None
    )
