"""Documents with any number of labels (gu2020 section 5.2: HoC)."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import torch
from torch import nn

from pubmill.errors import PubmillError
from pubmill.examples.kinds import MultilabelExample
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.losses import label_weights, multilabel_loss
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.tasks.texts import Text, encode_texts
from pubmill.recipes import FinetuningRecipe

Labels = list[str]


class Multilabel(Task[MultilabelExample]):
    """One binary decision for each label, at a probability of one half.

    A document is read as a whole, up to the encoder's length, or sentence by sentence: then each sentence is
    learnt with its own labels, and the document gets all labels predicted for its sentences (BLUE).
    """

    kind = MultilabelExample
    key = "labels"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[MultilabelExample]) -> Labels:
        """Return the labels in alphabetical order."""
        classes = {
            label
            for example in examples
            for _, labels in _labelled_texts(example, recipe)
            for label in labels
        }
        if not classes:
            raise PubmillError("no training example has a label to learn; convert the dataset again")
        return sorted(classes)

    def encode(self, examples: Sequence[MultilabelExample]) -> Encoded:
        return encode_texts(
            self.reader,
            [
                Text(example=number, id=example.id, first=text)
                for number, example in enumerate(examples)
                for text, _ in _labelled_texts(example, self.recipe)
            ],
        )

    def targets(
        self, examples: Sequence[MultilabelExample], instances: Sequence[Instance]
    ) -> list[list[float]]:
        """Return a number for each label: 1.0 if the unit has it, else 0.0."""
        return [
            [float(label in labels) for label in self.labels]
            for example in examples
            for _, labels in _labelled_texts(example, self.recipe)
        ]

    def prepare(self, examples: Sequence[MultilabelExample], instances: Sequence[Instance]) -> None:
        if self.recipe.loss == "weighted":
            units = [labels for example in examples for _, labels in _labelled_texts(example, self.recipe)]
            counts = Counter(label for labels in units for label in labels)
            self.weights = torch.tensor(label_weights([counts[label] for label in self.labels], len(units)))

    def loss(
        self, model: nn.Module, scores: torch.Tensor, batch: Batch, targets: torch.Tensor
    ) -> torch.Tensor:
        if self.weights is not None:
            self.weights = self.weights.to(scores.device)
        assert self.recipe.loss != "dice"  # Recipes refuse it.
        return multilabel_loss(self.recipe.loss, self.weights)(scores, targets.view_as(scores))

    @property
    def fixed_places(self) -> Literal["given"]:
        """One place for each instance."""
        return "given"

    def output(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return for each instance whether each label is more likely than not."""
        return scores > 0

    def probabilities(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return for each instance the probability of each label."""
        return scores.float().sigmoid()

    def confidences(
        self,
        examples: Sequence[MultilabelExample],
        instances: Sequence[Instance],
        probabilities: Sequence[torch.Tensor],
    ) -> list[dict[str, float]]:
        """Return the probability of every label, whether predicted or not; the highest of the units."""
        highest = [dict.fromkeys(self.labels, 0.0) for _ in examples]
        for instance, values in zip(instances, probabilities, strict=True):
            of = highest[instance.example]
            for label, value in zip(self.labels, values.flatten().tolist(), strict=True):
                of[label] = max(of[label], value)
        return highest

    def predictions(
        self,
        examples: Sequence[MultilabelExample],
        instances: Sequence[Instance],
        outputs: Sequence[torch.Tensor],
    ) -> list[Labels]:
        """Return the union of the labels of each document's units."""
        predicted: list[set[str]] = [set() for _ in examples]
        for instance, present in zip(instances, outputs, strict=True):
            predicted[instance.example].update(
                label for label, here in zip(self.labels, present.flatten().tolist(), strict=True) if here
            )
        return [sorted(labels) for labels in predicted]


def _labelled_texts(example: MultilabelExample, recipe: FinetuningRecipe) -> list[tuple[str, Labels]]:
    """Return the texts into which an example is divided, each with its labels."""
    if recipe.unit == "document":
        return [(example.text, example.labels)]
    if not example.sentences:
        raise PubmillError(
            f"example {example.id} has no labelled sentences, which unit sentence reads; "
            "set `unit` to document"
        )
    return [(example.text[one.start : one.end], one.labels) for one in example.sentences]
