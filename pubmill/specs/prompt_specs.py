"""Specs of prompts for language models."""

import re
from typing import Annotated, Self

from pydantic import Field, model_validator

from pubmill.errors import PubmillError
from pubmill.examples.prompts import PLACES
from pubmill.specs.spec_types import Spec, Text

PLAIN = "plain"
"""The prompts that are used unless others are named."""


class PromptSpec(Spec):
    """How language models are asked for the examples of datasets.

    - `templates`: dataset, or task of datasets -> the prompt. `{text}` and others stand for the input,
      `{annotated}`, `{labels}` and `{types}` for what the dataset's `glosses` say.
    """

    templates: Annotated[dict[str, Text], Field(min_length=1)]

    @model_validator(mode="after")
    def has_known_places(self) -> Self:
        for key, template in self.templates.items():
            if strange := set(re.findall(r"\{(\w+)\}", template)) - set(PLACES):
                raise ValueError(
                    f"`{key}`: {{{min(strange)}}} stands for nothing; there are "
                    f"{', '.join(f'{{{one}}}' for one in PLACES)}"
                )
        return self

    def template(self, dataset: str, task: str) -> str:
        """Return the template for a dataset: its own, or that of its task."""
        found = self.templates.get(dataset, self.templates.get(task))
        if found is None:
            raise PubmillError(f"specs/prompts/{self.name}.yaml has no template for {dataset} or {task}")
        return found
