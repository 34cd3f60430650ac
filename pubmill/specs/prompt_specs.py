"""Specs of prompts for language models."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from pubmill.errors import PubmillError
from pubmill.examples.prompts import PLACES
from pubmill.specs.spec_types import Spec, Text

PLAIN = "plain"
"""The prompts that are used unless others are named."""


def _known_places(template: str) -> str:
    """Refuse a template with a place in braces that nothing stands for."""
    if strange := set(re.findall(r"\{(\w+)\}", template)) - set(PLACES):
        places = ", ".join(f"{{{one}}}" for one in PLACES)
        raise ValueError(f"{{{min(strange)}}} stands for nothing; there are {places}")
    return template


class PromptSpec(Spec):
    """How language models are asked for the examples of datasets.

    - `templates`: dataset, or task of datasets -> the prompt. `{text}` and others stand for the input,
      `{annotated}`, `{labels}` and `{types}` for what the dataset's `glosses` say.
    """

    templates: Annotated[dict[str, Annotated[Text, AfterValidator(_known_places)]], Field(min_length=1)]

    def template(self, dataset: str, task: str) -> str:
        """Return the template for a dataset: its own, or that of its task."""
        found = self.templates.get(dataset, self.templates.get(task))
        if found is None:
            raise PubmillError(f"specs/prompts/{self.name}.yaml has no template for {dataset} or {task}")
        return found
