"""Specs of models (released weights, weights trained here, or both; or predictions), and of prompts."""

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from pubmill.errors import PubmillError
from pubmill.examples.prompts import PLACES
from pubmill.recipes.models import LocalWeights
from pubmill.recipes.recipe_types import LocalKey, Name
from pubmill.recipes.submissions import Budget, Engine, Price, System
from pubmill.specs.spec_types import Https, Sha256, Spec, Strict, Text
from pubmill.storage import name_patterns as names
from pubmill.storage.release_pins import COMMIT

PLAIN = "plain"
"""The prompts that are used unless others are named."""


def _known_places(template: str) -> str:
    """Return a template; a `ValueError` if it has a place in braces that is not one of `PLACES`."""
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


class RecipeWeights(Strict):
    """Weights made here: pretrained with a recipe, or its architecture with random weights. `step`: the
    checkpoint to use; null for the last.

    - `kind`: pretrained with the recipe, or its architecture with random weights.
    - `recipe`: the pretraining recipe.
    """

    kind: Literal["pretraining", "random"]
    recipe: Name
    step: int | None = None

    def faults(self) -> Iterator[str]:
        if self.kind == "random" and self.step is not None:
            yield "random weights have no step; remove `step`"


class StatedWeights(Strict):
    """A system that is not fine-tuned here, and the mapping of its labels.

    - `system`: the statement about it, by its author or by the user who prompts it.
    - `mapping`: dataset -> answer, label or type of the system -> label of the dataset; null leaves it out.
    """

    system: System
    mapping: dict[Name, dict[str, str | None]] = {}


class PredictionsWeights(StatedWeights):
    """Predictions of a system that is not fine-tuned here, which the user provides as `local_files: {KEY:
    ...}`: files DATASET.EXT, or seed-N/DATASET.EXT.

    - `kind`: `predictions`.
    - `local`: the key of the folder in `local_files`.
    """

    kind: Literal["predictions"]
    local: LocalKey


class PromptedWeights(StatedWeights):
    """A language model on a server with OpenAI's protocol, prompted with the examples of some datasets. An
    answer is mapped to the label that it names, or by `mapping`.

    - `kind`: `prompted`.
    - `server`: its address, such as http://localhost:8000/v1; nothing is asked again if it moves.
    - `model`: its name on the server.
    - `prompt`: how it is asked, a file in specs/prompts.
    - `datasets`: those that it is asked about.
    - `shots`: worked examples of the training split before each prompt.
    - `seeds`: one run each; the seed draws the worked examples, and is sent to the server.
    - `temperature`: 0: the likeliest answer.
    - `length`: the longest answer in tokens.
    - `structured`: answers are JSON of a schema that the server enforces.
    - `price`: what the server charges for a million tokens; nothing is asked again if it changes.
    - `budget`: the most requests and tokens for each dataset and seed; a job that has spent it stops, keeps
      its answers, and goes on once the budget is larger.
    - `at_once`: requests at the same time.
    - `engine`: what answers, with its quantisation and batching; it is asked again if this changes.
    """

    kind: Literal["prompted"]
    server: Annotated[str, Field(pattern=r"^https?://[^\s@]+$")]
    model: Annotated[str, Field(min_length=1)]
    prompt: Name = PLAIN
    datasets: Annotated[list[Name], Field(min_length=1)]
    shots: Annotated[int, Field(ge=0)] = 0
    seeds: Annotated[list[int], Field(min_length=1)] = [1]
    temperature: Annotated[float, Field(ge=0)] = 0.0
    length: Annotated[int, Field(ge=1)] = 512
    structured: bool = False
    price: Price | None = None
    budget: Budget | None = None
    at_once: Annotated[int, Field(ge=1)] = 8
    engine: Engine | None = None


Weights = Annotated[
    RecipeWeights | LocalWeights | PredictionsWeights | PromptedWeights,
    Field(discriminator="kind"),
]


class HubWeights(Strict):
    """Released weights on the Hugging Face hub, pinned to a commit.

    - `id`: the repository, GROUP/MODEL.
    - `revision`: a commit of 40 digits, not a branch; null: none is known, so the first download takes the
      newest commit, records it and keeps it.
    """

    kind: ClassVar[str] = "hub"
    id: Annotated[str, Field(pattern=f"^{names.HUB_ID}$")]
    revision: Annotated[str, Field(pattern=f"^{COMMIT}$")] | None


class ArchiveWeights(Strict):
    """Released weights in a tar or zip archive with one model folder in the form of Transformers.

    - `url`: the archive's address.
    - `sha256`: its hash; null: none is known, so that of the first download is recorded and kept.
    """

    kind: ClassVar[str] = "archive"
    url: Https
    sha256: Sha256 | None


ReleasedWeights = Annotated[
    Annotated[HubWeights, Tag("hub")] | Annotated[ArchiveWeights, Tag("archive")],
    Discriminator(lambda written: "archive" if isinstance(written, dict) and "url" in written else "hub"),
]


class ModelSpec(Spec):
    """A model in tables: released weights, weights made here, or both (the scale decides which it prefers),
    or predictions from elsewhere. `tables`: tables that it joins although their specs
    don't name it. `size`: the BERT size that plans assume for weights from elsewhere; null: base on the hub,
    large in a folder.

    - `weights`: weights made here, provided by you, or replaced by predictions of yours.
    - `released`: released weights.
    - `lowercase`: whether text is lower-cased for this model.
    """

    weights: Weights | None = None
    released: ReleasedWeights | None = None
    lowercase: bool
    size: Literal["base", "large", "xxlarge"] | None = None
    tables: tuple[str, ...] = ()

    def preferred(self, released: bool) -> Weights | HubWeights | ArchiveWeights:
        """The source of its weights at a scale that prefers `released` weights, or else those made here."""
        first, second = (self.released, self.weights) if released else (self.weights, self.released)
        chosen = first or second
        assert chosen is not None, "faults"
        return chosen

    @property
    def is_fine_tuned(self) -> bool:
        """Whether it is fine-tuned here: it is neither supplied predictions nor a prompted model."""
        return not isinstance(self.weights, StatedWeights)

    def faults(self) -> Iterator[str]:
        if self.weights is None and self.released is None:
            yield "a model needs `weights`, `released`, or both"
        if not self.is_fine_tuned and self.released is not None:
            yield "a supplied prediction is not fine-tuned, so it has no `released` weights; remove them"
