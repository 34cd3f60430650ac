"""One or two texts with one label: relations, yes/no/maybe answers, inference (gu2020 section 5.2)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import torch
from torch import nn

from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample
from pubmill.finetuning.heads import Layers
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.losses import class_weights, classification_loss
from pubmill.finetuning.pooling import Concatenated
from pubmill.finetuning.recurrent import SequenceBiLstm
from pubmill.finetuning.tasks.relations import MENTIONS, add_marks, transformed
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.tasks.texts import Text, encode_texts
from pubmill.recipes import FinetuningRecipe

if TYPE_CHECKING:
    from transformers import PreTrainedModel

POOLED: dict[str, Literal["max", "average"]] = {"mention-max": "max", "mention-average": "average"}


class Sequences(Task[SequenceExample]):
    """One label per example, predicted from the encoding of the first token, from those of two mentions, or
    by a BiLSTM over all tokens (including special ones)."""

    kind = SequenceExample
    key = "label"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[SequenceExample]) -> list[str]:
        """Return the labels in alphabetical order."""
        labels = sorted({example.label for example in examples})
        if len(labels) < 2:
            raise PubmillError(
                f"all training examples have the label {labels[0]}; a classifier needs at least two labels; "
                "convert the dataset again"
            )
        if recipe.negative is not None and recipe.negative not in labels:
            raise PubmillError(
                f"the negative label {recipe.negative} is that of no training example; there are "
                f"{', '.join(labels)}; correct `negative`"
            )
        return labels

    def encode(self, examples: Sequence[SequenceExample]) -> Encoded:
        texts = []
        for number, example in enumerate(examples):
            text, arguments = transformed(example, self.recipe)
            texts.append(
                Text(example=number, id=example.id, first=text, second=example.text_pair, arguments=arguments)
            )
        encoded = encode_texts(self.reader, texts, self.recipe.pooling)
        return replace(
            encoded, instances=[self._with_read_places(instance) for instance in encoded.instances]
        )

    def _with_read_places(self, instance: Instance) -> Instance:
        """Return the instances, with the places that the head reads."""
        every = self.recipe.head == "bilstm"
        return replace(instance, places=list(range(len(instance.ids)))) if every else instance

    def targets(
        self, examples: Sequence[SequenceExample], instances: Sequence[Instance]
    ) -> list[list[float]]:
        return [[self.places[examples[instance.example].label]] for instance in instances]

    def extend(self, encoder: "PreTrainedModel") -> None:
        if self.recipe.entities == "markers":
            add_marks(self.reader.tokenizer, encoder)

    def head(self, width: int) -> nn.Module:
        if self.recipe.head == "bilstm":
            return SequenceBiLstm(width, len(self.labels), self.recipe)
        if self.recipe.pooling == "cls":
            return super().head(width)
        layers = Layers(MENTIONS * width, len(self.labels), self.recipe)
        return Concatenated(MENTIONS, POOLED.get(self.recipe.pooling), layers)

    def prepare(self, examples: Sequence[SequenceExample], instances: Sequence[Instance]) -> None:
        if self.recipe.loss == "weighted":
            counts = Counter(example.label for example in examples)
            self.weights = torch.tensor(class_weights([counts[label] for label in self.labels]))

    def loss(
        self, model: nn.Module, scores: torch.Tensor, batch: Batch, targets: torch.Tensor
    ) -> torch.Tensor:
        if self.weights is not None:
            self.weights = self.weights.to(scores.device)
        return classification_loss(self.recipe.loss, self.weights)(scores, targets.long())

    @property
    def fixed_places(self) -> Literal["given"] | None:
        """As many places for each example, unless all its tokens or all subwords of its mentions are read."""
        variable = self.recipe.head == "bilstm" or self.recipe.pooling in POOLED
        return None if variable else "given"

    def output(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the index of the best label for each instance."""
        return scores.argmax(-1)

    def probabilities(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the probability of the predicted label of each instance."""
        return scores.float().softmax(-1).amax(-1)

    def sizes(self, batch: Batch) -> list[int]:
        """Return one row for each instance."""
        return [1] * len(batch.counts)

    def predictions(
        self,
        examples: Sequence[SequenceExample],
        instances: Sequence[Instance],
        outputs: Sequence[torch.Tensor],
    ) -> list[str]:
        return [self.labels[int(best)] for best in outputs]
