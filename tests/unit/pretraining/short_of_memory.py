"""Pretrain with too little memory in one process at a time, as one of two processes.

python tests/unit/pretraining/short_of_memory.py DATA OUTPUT STEPS RECIPE

Process 1 has too little in its first micro-batch of the second step, process 0 in its last one of the fourth.
Meanwhile the other process may add gradients already.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import torch

from pubmill import recipes
from pubmill.pretraining import batch_preparation, distributed
from pubmill.pretraining.computation import Computation
from pubmill.pretraining.micro_batches import Part
from pubmill.recipes import PretrainingRecipe
from tests.unit.pretraining.toy_pretraining import pretrain

AT_ONCE = 4
# Of 8 sequences: two micro-batches in the first step, one that fails, then four in each step.
FAILING = {1: 3, 0: 2 + 1 + 4 + 4 + 4}
"""Rank -> the number of its micro-batch that fails; process 0 notices the other's failure after its first."""


def main() -> None:
    data, output, steps, recipe = sys.argv[1:]
    process, counts = Computation.process, {0: 0, 1: 0}

    def processing(self: Computation, part: Part, *given: Any, **named: Any) -> Any:
        rank = self.world.rank
        counts[rank] += 1
        if counts[rank] == FAILING[rank]:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return process(self, part, *given, **named)

    Computation.process = processing  # type: ignore[method-assign]
    distributed.OVERLAPPING, distributed.LARGE = ("cpu",), 100
    read = recipes.read(PretrainingRecipe, recipe)
    batch_preparation.TOKENS_AT_ONCE["cpu"] = AT_ONCE * read.sequence_length
    pretrain(Path(data), Path(output), int(steps), recipe=read)


if __name__ == "__main__":
    main()
