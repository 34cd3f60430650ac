"""ELECTRA's objective: detection of the tokens that a generator replaced."""

from pathlib import Path
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from pubmill.pretraining.architectures import build_generator
from pubmill.pretraining.forward import embed, encode, masked_lm_logits, replaced_logits
from pubmill.pretraining.micro_batches import Part
from pubmill.pretraining.objectives.learner import Learner
from pubmill.recipes import Objective, PretrainingRecipe


class ReplacedTokenDetection(Learner):
    """ELECTRA: a generator fills in the masks, the model predicts for each token whether it was replaced
    (Clark et al. 2020, section 3). If the generator fills in the original token, it was not replaced."""

    def __init__(self, model: Any, generator: Any, objective: Objective, recompute: bool = False) -> None:
        super().__init__(model, objective, recompute)
        self.generator = generator

    @classmethod
    def build(cls, model: Any, recipe: PretrainingRecipe, teacher: Path | None) -> Self:
        objective = recipe.objective
        assert objective.generator is not None
        generator = build_generator(objective.generator, model, recipe.seed)
        return cls(model, generator, objective, recipe.recompute_activations)

    @property
    def networks(self) -> dict[str, Any]:
        return {"model": self.model, "generator": self.generator}

    def forward(self, part: Part) -> dict[str, Tensor]:
        vectors = self.encode(self.generator, part.ids, part)
        logits = masked_lm_logits(self.generator, vectors[len(part.pair_labels) :]).float()
        places = part.rows[len(part.pair_labels) :]
        ids, replaced = part.ids.flatten().clone(), torch.zeros_like(part.ids.flatten())
        drawn = sample(logits.detach()).to(ids.dtype)
        ids[places], replaced[places] = drawn, (drawn != part.labels).to(replaced.dtype)
        scores, right = self._scores(ids.view_as(part.ids), part).float(), replaced[part.present]
        return self.masked_lm(logits, part) | {
            "rtd_loss": F.binary_cross_entropy_with_logits(scores, right.float(), reduction="sum"),
            "rtd_correct": ((scores > 0) == right.bool()).sum(),
        }

    def _scores(self, ids: Tensor, part: Part) -> Tensor:
        """Return the logits at all tokens that they were replaced."""
        embedded = embed(self.model, ids, part.segments, part.positions, part.compiled)
        if part.unpadded:
            # Almost all positions are tokens, and their number varies.
            hidden = encode(self.model, embedded, part.mask, None, self.recompute)
            return replaced_logits(self.model, hidden).flatten()[part.present]
        hidden = encode(self.model, embedded, part.mask, part.present, self.recompute)
        return replaced_logits(self.model, hidden)

    def evaluate(self, part: Part) -> dict[str, Tensor]:
        return self.forward(part)


def sample(logits: Tensor) -> Tensor:
    """Draw ids from the softmax of logits (positions, vocabulary), by the Gumbel-max trick."""
    return (logits - torch.empty_like(logits).exponential_().log()).argmax(-1)
