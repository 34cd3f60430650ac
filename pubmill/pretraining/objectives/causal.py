"""Prediction of next tokens, alone or beside masked ones (GPT-BERT)."""

import torch
from torch import Tensor

from pubmill.pretraining.cross_entropy import cross_entropy
from pubmill.pretraining.forward import masked_lm_logits
from pubmill.pretraining.micro_batches import Part
from pubmill.pretraining.objectives.learner import Learner
from pubmill.pretraining.unpadded import SequenceBounds


class CausalLearner(Learner):
    """Some sequences are read from left to right, see `pubmill.recipes.objectives.Causal`."""

    def forward(self, part: Part) -> dict[str, Tensor]:
        vectors, count = self.encode(self.model, part.ids, part), len(part.pair_labels)
        ahead, sums = reads_ahead(part), dict[str, Tensor]()
        for term in self.terms:
            (chosen,) = (ahead if term.per == "causal" else ~ahead).nonzero(as_tuple=True)
            logits = masked_lm_logits(self.model, vectors[count:][chosen])
            loss, right = cross_entropy(logits, part.labels[chosen], part.compiled)
            sums |= {f"{term.name}_loss": loss, f"{term.name}_correct": right}
        return sums

    def evaluate(self, part: Part) -> dict[str, Tensor]:
        return self.forward(part)


def reads_ahead(part: Part) -> Tensor:
    """Return which labels of a micro-batch are next tokens."""
    places = part.rows[len(part.pair_labels) :]
    if isinstance(part.mask, SequenceBounds):
        return places < part.mask.causal[1]
    if part.causal is None:
        return torch.zeros_like(places, dtype=torch.bool)
    return part.causal[places // part.ids.shape[1]]
