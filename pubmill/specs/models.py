"""Specs of models: released weights, weights made here, or both; or a finished tool."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pubmill.specs.base import LocalKey, Name, Spec, Strict


class RecipeWeights(Strict):
    """Weights made here: pretrained by a recipe, or its architecture freshly initialised. `step`: the
    checkpoint that they are taken from; null for the last."""

    kind: Literal["pretraining", "random"]
    recipe: Name
    step: int | None = None

    @model_validator(mode="after")
    def only_trained_weights_have_a_step(self) -> Self:
        if self.kind == "random" and self.step is not None:
            raise ValueError("random weights are of no step; remove `step`")
        return self


class FolderWeights(Strict):
    """A Hugging Face folder of the user's own: `local_files: {KEY: ...}` says where."""

    kind: Literal["folder"]
    local: LocalKey


MentionType = Annotated[str, Field(pattern=r"^\S*$")]


class SpacyWeights(Strict):
    """A spaCy pipeline of the user's own (`local_files: {KEY: ...}` says where), which predicts mentions
    as it is.

    `types`: dataset -> label of the pipeline's entities -> the dataset's type of mention, "" where its
    labels have none. Entities of other labels are left out; other datasets are not predicted.
    """

    kind: Literal["spacy"]
    local: LocalKey
    types: dict[Name, dict[str, MentionType]]


Weights = Annotated[RecipeWeights | FolderWeights | SpacyWeights, Field(discriminator="kind")]


class HubWeights(Strict):
    """Released weights on the Hugging Face hub, pinned to a commit."""

    id: str
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class ModelSpec(Spec):
    """A column or row of tables: released weights, weights made here, or both (the scale says which
    it prefers), or a pipeline. `tables`: those it joins without being named in them. `size`: BERT's that
    plans take weights from elsewhere to have; null: base on the hub, large in a folder."""

    weights: Weights | None = None
    released: HubWeights | None = None
    lowercase: bool
    size: Literal["base", "large"] | None = None
    tables: tuple[str, ...] = ()

    def preferred(self, released: bool) -> Weights | HubWeights:
        """Where its weights come from at a scale that prefers the `released` ones, or those made here."""
        first, second = (self.released, self.weights) if released else (self.weights, self.released)
        chosen = first or second
        assert chosen is not None, "has_weights"
        return chosen

    @model_validator(mode="after")
    def has_weights(self) -> Self:
        if self.weights is None and self.released is None:
            raise ValueError("a model needs `weights`, `released`, or both")
        if isinstance(self.weights, SpacyWeights) and self.released is not None:
            raise ValueError(
                "a spaCy pipeline is not fine-tuned, so it has no `released` weights; remove them"
            )
        return self
