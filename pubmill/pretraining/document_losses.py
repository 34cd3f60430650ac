"""Losses of a model on chosen documents, masked the same for every recipe."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pubmill.pretraining.computation import Sums
from pubmill.pretraining.engine import EVALUATED_RATE, Pretraining
from pubmill.pretraining.instances import Instances, Stream, generator
from pubmill.pretraining.masking import Draws
from pubmill.pretraining.predicted_tokens import hide
from pubmill.recipes import Objective

SCORED = Objective(masking="subword", pairs="none")
"""Single subwords of single documents."""


def masked_sums(work: Pretraining, instances: Instances, chosen: NDArray[np.int64]) -> Sums:
    """Return the sums of `measure` over chosen sequences, of which `EVALUATED_RATE` of the subwords are
    masked; `mlm_loss` / `masked` is the mean loss in nats.

    `instances`: sequences of single documents, without pairs. The positions and replacements of a sequence
    depend on its number only. A model that was trained to predict a token from the position before it does so
    here.
    """
    batch = instances.lay_out(chosen, generator(0, Stream.HELD_OUT))
    draws = Draws(chosen, 0, Stream.HELD_OUT)
    hidden = hide(batch, work.vocabulary, SCORED, EVALUATED_RATE, draws, len(chosen))
    if work.recipe.objective.causal:
        hidden = replace(hidden, positions=hidden.positions - 1)
    return work.measure(work.batches.divide(batch, batch, hidden))
