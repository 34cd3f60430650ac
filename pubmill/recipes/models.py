"""Recipes of models: where their weights come from, and their export."""

from typing import Annotated, Literal

from pydantic import Field

from pubmill.recipes.pretraining import PretrainingRecipe
from pubmill.recipes.recipe_types import LocalKey, Name, StrictRecipe
from pubmill.recipes.submissions import System


class TrainingStart(StrictRecipe):
    """The start of a pretraining, instead of random weights: the weights of a `model`, or another `recipe`'s
    checkpoint at `step`, which is resumed in full (weights, optimiser, step count).

    - `model`: the model whose weights training starts from.
    - `recipe`: the recipe whose checkpoint is resumed.
    - `step`: the step of that checkpoint.
    """

    model: Name | None = None
    recipe: Name | None = None
    step: int | None = None

    def __post_init__(self) -> None:
        if (self.model is None) == (self.recipe is None) or (self.recipe is None) != (self.step is None):
            raise ValueError("start is {model: NAME}, or {recipe: NAME, step: N}")


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
    """A Hugging Face model folder that the user provides as `local_files: {KEY: ...}`.

    - `kind`: `folder`.
    - `local`: the key of the folder in `local_files`.
    """

    kind: Literal["folder"] = "folder"
    local: LocalKey


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


class SuppliedWeights(StrictRecipe):
    """Predictions of a system that is not fine-tuned here, with a statement about it: files of the user's
    own, or (`local` None) the answers of a language model that is asked."""

    kind: Literal["predictions"] = "predictions"
    local: str | None
    system: System


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
