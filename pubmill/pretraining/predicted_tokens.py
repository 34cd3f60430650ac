"""Inputs and labels of a batch: masked tokens, next tokens, or both."""

import numpy as np

from pubmill.pretraining.instances import PackedBatch
from pubmill.pretraining.masking import Draws, Masked, Vocabulary, mask
from pubmill.recipes import Objective
from pubmill.recipes.objectives import kind_of


def hide(
    batch: PackedBatch, vocabulary: Vocabulary, objective: Objective, rate: float, draws: Draws, total: int
) -> Masked:
    """Return the tokens of a batch after masking at a `rate`, and where which tokens are predicted.

    `batch` has the sequences `draws.sequences` of the `total` that a step has on all processes. In the first
    of all, if the objective reads some from left to right, nothing is masked, and each position except the
    last predicts the next token. A masked token of the other sequences is then predicted from the position
    before it.
    """
    if not len(batch.lengths):
        return Masked(batch.ids, batch.ids, batch.ids)
    masked = mask(batch.ids, batch.inner, batch.lengths, vocabulary, objective, rate, draws)
    causal_of_all = kind_of(objective).causal_sequences(total)
    if not causal_of_all:
        return masked
    causal = int((draws.sequences < causal_of_all).sum())
    ends = np.cumsum(batch.lengths[:causal])
    tokens = int(batch.lengths[:causal].sum())
    before = np.setdiff1d(np.arange(tokens), ends - 1, assume_unique=True)
    kept = masked.positions >= tokens
    return Masked(
        ids=np.concatenate([batch.ids[:tokens], masked.ids[tokens:]]),
        positions=np.concatenate([before, masked.positions[kept] - 1]),
        labels=np.concatenate([batch.ids[before + 1], masked.labels[kept]]),
        causal=causal,
        next_tokens=len(before),
    )
