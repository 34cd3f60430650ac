"""Specs of prompts for language models."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from pubmill.errors import PubmillError
from pubmill.examples.prompts import PLACES
from pubmill.specs.spec_types import Https, Sha256, Spec, Strict, Text

PLAIN = "plain"
"""The prompts that are used unless others are named."""


def _known_places(template: str) -> str:
    """Refuse a template with a place in braces that nothing stands for."""
    if strange := set(re.findall(r"\{(\w+)\}", template)) - set(PLACES):
        places = ", ".join(f"{{{one}}}" for one in PLACES)
        raise ValueError(f"{{{min(strange)}}} stands for nothing; there are {places}")
    return template


Template = Annotated[Text, AfterValidator(_known_places)]


class PublishedPrompt(Strict):
    """A prompt that others published. Its text is theirs: the file is downloaded, and read as UTF-8.

    - `url`: the file's address.
    - `sha256`: the SHA-256 of its content.
    - `place`: the part of the file that stands for the input.
    - `input`: what is put there, a template.
    """

    url: Https
    sha256: Sha256
    place: Text
    input: Template


class PromptSpec(Spec):
    """How language models are asked for the examples of datasets.

    - `templates`: dataset, or task of datasets -> the prompt, or the file of a published one. `{text}` and
      others stand for the input, `{dummies}` for a text whose arguments are the dataset's dummy words,
      `{annotated}`, `{labels}` and `{types}` for what the dataset's `glosses` say.
    """

    templates: Annotated[dict[str, Template | PublishedPrompt], Field(min_length=1)]

    def published(self) -> list[PublishedPrompt]:
        """Return the prompts that are files of others."""
        return [one for one in self.templates.values() if isinstance(one, PublishedPrompt)]

    def template(self, dataset: str, task: str) -> str | PublishedPrompt:
        """Return the template for a dataset: its own, or that of its task."""
        template = self.templates.get(dataset, self.templates.get(task))
        if template is None:
            raise PubmillError(f"specs/prompts/{self.name}.yaml has no template for {dataset} or {task}")
        return template
