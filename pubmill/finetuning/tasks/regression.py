"""Two texts with a score: sentence similarity (gu2020 section 5.2: BIOSSES)."""

from collections.abc import Sequence
from statistics import pstdev

import torch
from torch import nn

from pubmill.annotation.examples import RegressionExample
from pubmill.finetuning.heads import Layers
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.base import Task
from pubmill.finetuning.tasks.texts import Text, encode_texts
from pubmill.recipes import FinetuningRecipe

COLLAPSED = 0.01
"""Below this share of the gold scores' spread, predictions are taken for one and the same."""


class Regression(Task[RegressionExample]):
    """A score read off the encoding of the first token, learnt on the gold scale as it is, as in BLUE's
    script (gu2020 section 5.2 speaks of a normalised score and does not say how): nothing to undo in a kept
    model, and the bias finds the mean."""

    kind = RegressionExample
    key = "score"

    def __init__(self, recipe: FinetuningRecipe, reader: Reader, labels: Sequence[str]) -> None:
        super().__init__(recipe, reader, labels)
        self.spread = 0.0

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[RegressionExample]) -> list[str]:
        """None: there are no classes."""
        return []

    def encode(self, examples: Sequence[RegressionExample]) -> Encoded:
        return encode_texts(
            self.reader,
            [
                Text(example=number, id=example.id, first=example.text, second=example.text_pair)
                for number, example in enumerate(examples)
            ],
        )

    def targets(
        self, examples: Sequence[RegressionExample], instances: Sequence[Instance]
    ) -> list[list[float]]:
        return [[examples[instance.example].score] for instance in instances]

    def head(self, width: int) -> nn.Module:
        return Layers(width, 1, self.recipe)

    def prepare(self, examples: Sequence[RegressionExample], instances: Sequence[Instance]) -> None:
        self.spread = pstdev(example.score for example in examples)

    def loss(
        self, model: nn.Module, scores: torch.Tensor, batch: Batch, targets: torch.Tensor
    ) -> torch.Tensor:
        return nn.functional.mse_loss(scores.squeeze(-1), targets)

    def outputs(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> list[torch.Tensor]:
        """The score of each instance."""
        return list(scores.squeeze(-1).cpu())

    def predictions(
        self,
        examples: Sequence[RegressionExample],
        instances: Sequence[Instance],
        outputs: Sequence[torch.Tensor],
    ) -> list[float]:
        return [float(score) for score in outputs]

    def constant(self, predictions: Sequence[float]) -> bool:
        """Whether the predictions' standard deviation is under 1 % of the training scores'.

        A collapsed training predicts about the mean of all pairs, and hardly ever the same bits: padding and
        what little is left of the input move the last digits, and Pearson would correlate just these.
        """
        return pstdev(predictions) <= COLLAPSED * self.spread
