"""Two texts with a score: sentence similarity (gu2020 section 5.2: BIOSSES)."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import nn

from pubmill.examples.kinds import RegressionExample
from pubmill.finetuning.heads import Layers
from pubmill.finetuning.inputs import Batch, Encoded, Instance
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.tasks.texts import Text, encode_texts
from pubmill.recipes import FinetuningRecipe


class Regression(Task[RegressionExample]):
    """A score predicted from the first token's encoding and learnt on the gold scale, as in BLUE's script.

    gu2020 section 5.2 mentions a normalised score without details. Without normalisation, a kept model has
    nothing to undo, and the bias learns the mean.
    """

    kind = RegressionExample
    key = "score"

    @classmethod
    def labels_of(cls, recipe: FinetuningRecipe, examples: Sequence[RegressionExample]) -> list[str]:
        """Return an empty list: there are no classes."""
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

    def loss(
        self, model: nn.Module, scores: torch.Tensor, batch: Batch, targets: torch.Tensor
    ) -> torch.Tensor:
        return nn.functional.mse_loss(scores.squeeze(-1), targets)

    @property
    def fixed_places(self) -> Literal["given"]:
        """One place for each instance."""
        return "given"

    def output(self, model: nn.Module, scores: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the score of each instance."""
        return scores.squeeze(-1)

    def predictions(
        self,
        examples: Sequence[RegressionExample],
        instances: Sequence[Instance],
        outputs: Sequence[torch.Tensor],
    ) -> list[float]:
        return [float(score) for score in outputs]
