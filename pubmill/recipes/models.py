"""Recipes of models: where their weights come from, and their export."""

from typing import Annotated, Literal

from pydantic import Field

from pubmill.recipes.pretraining import PretrainingRecipe
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.recipes.submissions import System


class TrainingStart(StrictRecipe):
    """What a pretraining starts from: the weights of a `model`, or the checkpoint of another `recipe` at
    `step`."""

    model: str | None = None
    recipe: str | None = None
    step: int | None = None


class PretrainedWeights(StrictRecipe):
    """The checkpoint of a pretraining recipe at `step`; `start` and `teacher` are for the model's card."""

    kind: Literal["pretraining"] = "pretraining"
    recipe: str
    step: int
    start: TrainingStart | Literal["random weights"] | None = None
    teacher: str | None = None


class RandomWeights(StrictRecipe):
    """The architecture of a pretraining recipe with random weights."""

    kind: Literal["random"] = "random"
    recipe: str


class LocalWeights(StrictRecipe):
    """A model folder of the user's own, `local_files: {KEY: ...}`."""

    kind: Literal["folder"] = "folder"
    local: str


class ReleasedWeights(StrictRecipe):
    """Weights on the Hugging Face hub at a full commit hash; null: that of the first download."""

    kind: Literal["hub"] = "hub"
    id: str
    revision: str | None

    @property
    def version(self) -> str | None:
        return self.revision

    @property
    def release(self) -> dict[str, str]:
        """The keys of the weights' pin."""
        return {"kind": self.kind, "id": self.id}


class ArchivedWeights(StrictRecipe):
    """Weights in a released archive with this SHA-256; null: that of the first download."""

    kind: Literal["archive"] = "archive"
    url: str
    sha256: str | None

    @property
    def version(self) -> str | None:
        return self.sha256

    @property
    def release(self) -> dict[str, str]:
        """The keys of the weights' pin."""
        return {"kind": self.kind, "url": self.url}


class PipelineWeights(StrictRecipe):
    """A spaCy pipeline of the user's own; `types`: dataset -> label of the pipeline -> mention type."""

    kind: Literal["spacy"] = "spacy"
    local: str
    types: dict[str, dict[str, str]]


class SuppliedWeights(StrictRecipe):
    """Predictions of a system that is not fine-tuned here, with a statement about it: files of the user's
    own, or (`local` None) the answers of a language model that is asked."""

    kind: Literal["predictions"] = "predictions"
    local: str | None
    system: System


NotTuned = Annotated[PipelineWeights | SuppliedWeights, Field(discriminator="kind")]
"""What predicts without fine-tuning here."""
ModelWeights = Annotated[
    PretrainedWeights | RandomWeights | LocalWeights | ReleasedWeights | ArchivedWeights,
    Field(discriminator="kind"),
]
"""Where the weights of a model that can be fine-tuned come from."""


class ExportRecipe(StrictRecipe):
    """A model folder: the model's name, where its weights come from, and the facts of its card. `lowercase`:
    how the tokenizer must treat capitals; released folders often don't specify it, and then versions of
    transformers read them differently. `pretraining`: the recipe of weights made here (random weights have
    its architecture); `seed`: of random weights."""

    model: str
    lowercase: bool
    weights: ModelWeights
    pretraining: PretrainingRecipe | None = None
    scale: str = "full"
    seed: int = 1
