"""What differs between kinds of tasks, for a trainer that knows none of them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import nn
from transformers import PreTrainedModel

from pubmill.annotation.examples import Example
from pubmill.errors import PubmillError
from pubmill.finetuning.heads import Layers, by_instance
from pubmill.finetuning.inputs import Batch, Encoded
from pubmill.finetuning.reader import Reader
from pubmill.metrics import dev_score, dev_scores
from pubmill.recipes import FinetuningRecipe

Kind = TypeVar("Kind", bound=Example)
Prediction = Any
"""What is predicted of one example: labels, a label, a score, answers; the task says which."""


class Task(ABC, Generic[Kind]):
    """A kind of task: how examples are read, what is learnt of them, how scores become predictions.

    `labels` are the classes in the order of the scores, read off the training examples.
    """

    kind: ClassVar[type[Example]]
    key: ClassVar[str]
    """The name under which a line of the predictions file has what is predicted."""

    def __init__(self, recipe: FinetuningRecipe, reader: Reader, labels: Sequence[str]) -> None:
        known = dev_scores(recipe.task)
        if recipe.metric not in known:
            raise PubmillError(
                f"{recipe.metric} is no dev score of {type(self).__name__}; there are {', '.join(known)}"
            )
        self.recipe, self.reader, self.labels = recipe, reader, list(labels)
        self.places = {label: number for number, label in enumerate(self.labels)}

    @classmethod
    @abstractmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[Kind]) -> list[str]:
        """The classes that training examples have, in an order that depends on nothing else."""

    @abstractmethod
    def encode(self, examples: Sequence[Kind]) -> Encoded:
        """Instances of the examples, in their order."""

    @abstractmethod
    def targets(self, examples: Sequence[Kind], instances: Sequence[Any]) -> list[list[float]]:
        """What the scores of each instance should become, as the task's loss takes it."""

    @abstractmethod
    def loss(
        self, model: nn.Module, scores: torch.Tensor, batch: Batch, targets: torch.Tensor
    ) -> torch.Tensor:
        """The mean loss of a batch; `targets` are those of its instances, one after another."""

    @abstractmethod
    def predictions(
        self, examples: Sequence[Kind], instances: Sequence[Any], outputs: Sequence[torch.Tensor]
    ) -> list[Prediction]:
        """What is predicted of each example, from the outputs of its instances."""

    def dev_score(self, examples: Sequence[Kind], predictions: Sequence[Prediction]) -> float:
        """The recipe's metric, higher is better: what chooses among weights and trials."""
        scored = [self.scored(prediction) for prediction in predictions]
        return dev_score(self.recipe.metric, self.recipe.task, examples, scored, self.recipe.negative)

    def scored(self, prediction: Prediction) -> Any:
        """A prediction in the form that metrics take."""
        return prediction

    def extend(self, encoder: PreTrainedModel) -> None:
        """Give the encoder's vocabulary the tokens that the task adds to the tokenizer's, if any."""

    def head(self, width: int) -> nn.Module:
        """The head on encodings of `width`."""
        return Layers(width, len(self.labels), self.recipe)

    def prepare(self, examples: Sequence[Kind], instances: Sequence[Any]) -> None:
        """Look at the training examples once, before the first step (for weights of classes)."""

    def classes(self, targets: Sequence[Sequence[float]]) -> list[int] | None:
        """The class of each training instance where all shall be equally frequent (`oversample`), or None."""
        return [int(target) for [target] in targets] if self.recipe.oversample else None

    def outputs(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> list[torch.Tensor]:
        """What is kept of a batch's scores, for each instance; on the CPU."""
        return by_instance(scores.cpu(), batch.counts)

    def constant(self, predictions: Sequence[Prediction]) -> bool:
        """Whether the same is predicted of all examples, as a training that collapsed does."""
        return all(prediction == predictions[0] for prediction in predictions)

    def gold(self, example: Kind) -> Prediction:
        """What is right for an example, in the form of a prediction."""
        return getattr(example, self.key)

    def row(self, example: Kind, prediction: Prediction | None) -> dict[str, Any]:
        """A line of the predictions file."""
        return {"id": example.id, self.key: prediction}
