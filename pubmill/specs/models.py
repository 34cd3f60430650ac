"""Specs of models: released weights, weights made here, or both."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pubmill.specs.base import Name, Spec, Strict


class RecipeWeights(Strict):
    """Weights made here: pretrained by a recipe, or its architecture freshly initialised."""

    kind: Literal["pretraining", "random"]
    recipe: Name


class FolderWeights(Strict):
    """A Hugging Face folder of the user's own: `local_files: {KEY: ...}` says where."""

    kind: Literal["folder"]
    local: str


class HubWeights(Strict):
    """Released weights on the Hugging Face hub, pinned to a commit."""

    id: str
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class ModelSpec(Spec):
    """A column or row of tables: released weights, weights made here, or both (the scale says which
    it prefers). `tables`: those it joins without being named in them."""

    weights: Annotated[RecipeWeights | FolderWeights, Field(discriminator="kind")] | None = None
    released: HubWeights | None = None
    lowercase: bool
    tables: tuple[str, ...] = ()

    @model_validator(mode="after")
    def has_weights(self) -> Self:
        if self.weights is None and self.released is None:
            raise ValueError("a model needs `weights`, `released`, or both")
        return self
