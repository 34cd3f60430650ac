"""Pretrain in a way that is disturbed or watched, as one of two processes.

python tests/unit/pretraining/disturbed.py HOW DATA OUTPUT STEPS RECIPE

HOW: `overlapping`: sums of gradients during the backward pass; `after`: sums after it; with both, sequences
are unpadded, with copies in bfloat16, and the number of sums that had begun before the end of the last
backward pass of each step is printed. `overflowing`: an infinite gradient in the last process, in the first
and the third step. `short`: process 1 has too little memory in its first micro-batch of the second step,
process 0 in its last one of the fourth; meanwhile the other process may add gradients already.
"""

import math
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import pytest
import torch
from torch.nn import Parameter

from pubmill import recipes
from pubmill.pretraining import batch_preparation, distributed
from pubmill.pretraining.distributed import OverlappedSums, World
from pubmill.pretraining.methods import UNPADDED
from pubmill.recipes import PretrainingRecipe
from tests.unit.pretraining import flash_reference
from tests.unit.pretraining.toy_interrupts import lack_memory
from tests.unit.pretraining.toy_pretraining import RECIPE, pretrain

# Of 8 sequences: two micro-batches in the first step, one that fails, then four in each step.
FAILING = {"1": 3, "0": 2 + 1 + 4 + 4 + 4}
"""Rank -> the number of its micro-batch that fails; process 0 notices the other's failure after its first."""


def watch_sums(patch: pytest.MonkeyPatch) -> None:
    finish, reduce, begun = OverlappedSums.finish, torch.distributed.all_reduce, [0]

    def reducing(*given: Any, **named: Any) -> Any:
        begun[0] += named.get("async_op", False)
        return reduce(*given, **named)

    def finishing(self: OverlappedSums) -> None:
        print(f"begun: {begun[0]} of {len(self.weights)}", file=sys.stderr)
        finish(self)
        begun[0] = 0

    patch.setattr(torch.distributed, "all_reduce", reducing)
    patch.setattr(OverlappedSums, "finish", finishing)
    flash_reference.use(patch, UNPADDED)


def overflow(patch: pytest.MonkeyPatch) -> None:
    add, calls = World.add_gradients, [0]

    def adding(self: World, weights: Iterable[Parameter]) -> None:
        weights, calls[0] = list(weights), calls[0] + 1
        if calls[0] in (1, 3) and self.rank == self.size - 1:
            assert weights[0].grad is not None
            weights[0].grad[0, 0] = math.inf
        add(self, weights)

    patch.setattr(World, "add_gradients", adding)


def main() -> None:
    how, data, output, steps, recipe = sys.argv[1:]
    patch = pytest.MonkeyPatch()
    if how == "overflowing":
        overflow(patch)
    else:
        if how == "short":
            lack_memory(patch, lambda count, part: count == FAILING[os.environ["RANK"]])
        else:
            watch_sums(patch)
        distributed.OVERLAPPING, distributed.LARGE = ("none" if how == "after" else "cpu",), 100
        batch_preparation.TOKENS_AT_ONCE["cpu"] = (4 if how == "short" else 2) * RECIPE.sequence_length
    pretrain(Path(data), Path(output), int(steps), recipe=recipes.read(PretrainingRecipe, recipe))


if __name__ == "__main__":
    main()
