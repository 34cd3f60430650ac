"""Masked language modelling as a learner, the base of all learners.

A `Learner` holds the exported model and the networks trained or used beside it. Given a micro-batch (see
`collate` in `pubmill.pretraining.micro_batches`), it returns the summed loss of each of its `terms`, and the
number of right answers where there is one. The whole loss is the weighted sum of the terms' means
over the *whole* batch, which only the engine knows.
"""

from pathlib import Path
from typing import Any, Self

import torch.nn.functional as F
from torch import Tensor, nn

from pubmill.pretraining.cross_entropy import cross_entropy
from pubmill.pretraining.forward import embed, encode, masked_lm_logits, pair_logits
from pubmill.pretraining.instances import UNLABELLED
from pubmill.pretraining.micro_batches import Part
from pubmill.recipes import Objective, PretrainingRecipe
from pubmill.recipes.objectives import PAIRS, Term, terms_of


class Learner(nn.Module):
    """A masked language model, with or without pairs (Devlin et al. 2019; Lan et al. 2020). `model` is one of
    transformers' with the heads of the objective."""

    slope_scale: float = 1.0
    """Factor of gradients inside `forward` that keeps them from underflowing in float16."""

    def __init__(self, model: Any, objective: Objective, recompute: bool = False) -> None:
        super().__init__()
        self.model, self.objective, self.recompute = model, objective, recompute
        self.pairs = PAIRS.get(objective.pairs)

    @classmethod
    def build(cls, model: Any, recipe: PretrainingRecipe, teacher: Path | None) -> Self:
        """Return the learner of a recipe around its model; `teacher` is a model folder, or None."""
        return cls(model, recipe.objective, recipe.recompute_activations)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The losses that are summed."""
        return terms_of(self.objective)

    @property
    def networks(self) -> dict[str, Any]:
        """The models that process a batch, named as in the `passes` of the objective."""
        return {"model": self.model}

    def forward(self, part: Part) -> dict[str, Tensor]:
        """Sums over a micro-batch: NAME_loss of each term, NAME_correct of those that choose."""
        vectors = self.encode(self.model, part.ids, part)
        return self.masked_lm(self.logits(vectors, part), part) | self.pair_losses(vectors, part)

    def evaluate(self, part: Part) -> dict[str, Tensor]:
        """Return the sums for text that is not trained on."""
        return Learner.forward(self, part)

    def encode(self, model: Any, ids: Tensor, part: Part) -> Tensor:
        """The vectors at [CLS] of each sequence, then at the masked positions."""
        embedded = embed(model, ids, part.segments, part.positions, part.compiled)
        return encode(model, embedded, part.mask, part.rows, self.recompute, part.causal)

    def logits(self, vectors: Tensor, part: Part) -> Tensor:
        """Predictions at the masked positions."""
        return masked_lm_logits(self.model, vectors[len(part.pair_labels) :])

    def masked_lm(self, logits: Tensor, part: Part) -> dict[str, Tensor]:
        """The loss of the masked tokens."""
        loss, right = cross_entropy(logits, part.labels, part.compiled)
        return {"mlm_loss": loss, "mlm_correct": right}

    def pair_losses(self, vectors: Tensor, part: Part) -> dict[str, Tensor]:
        """The loss of the pairs; the head is always used, so that every process has its gradients."""
        if self.pairs is None:
            return {}
        choices = pair_logits(self.model, vectors[: len(part.pair_labels)]).float()
        right = part.pair_labels
        loss = F.cross_entropy(choices, right, reduction="sum", ignore_index=UNLABELLED)
        return {f"{self.pairs}_loss": loss, f"{self.pairs}_correct": (choices.argmax(-1) == right).sum()}


def divergence(logits: Tensor, target: Tensor, temperature: float = 1.0) -> Tensor:
    """The Kullback-Leibler divergence from the distributions of `target` to those of `logits`, summed."""
    return F.kl_div(
        F.log_softmax(logits / temperature, -1),
        F.log_softmax(target / temperature, -1),
        reduction="sum",
        log_target=True,
    )
