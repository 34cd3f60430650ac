"""Inputs and labels of a batch: masked tokens, next tokens, or both."""

import numpy as np

from pubmill.pretraining.instances import PackedBatch
from pubmill.pretraining.masking import Masked, Random, Vocabulary, mask
from pubmill.recipes import Objective
from pubmill.recipes.objectives import kind_of


def hide(
    batch: PackedBatch, vocabulary: Vocabulary, objective: Objective, rate: float, random: Random
) -> Masked:
    """Return the tokens of a batch after masking at a `rate`, and where which tokens are predicted.

    In the batch's first sequences, if the objective reads some from left to right, nothing is masked, and
    each position except the last predicts the next token. A masked token of the other sequences is then
    predicted from the position before it.
    """
    masked = mask(batch.ids, batch.inner, batch.lengths, vocabulary, objective, rate, random)
    causal = kind_of(objective).causal_sequences(len(batch.lengths))
    if not causal:
        return masked
    ends = np.cumsum(batch.lengths[:causal])
    tokens = int(ends[-1])
    before = np.setdiff1d(np.arange(tokens), ends - 1, assume_unique=True)
    kept = masked.positions >= tokens
    return Masked(
        ids=np.concatenate([batch.ids[:tokens], masked.ids[tokens:]]),
        positions=np.concatenate([before, masked.positions[kept] - 1]),
        labels=np.concatenate([batch.ids[before + 1], masked.labels[kept]]),
        causal=causal,
        next_tokens=len(before),
    )
