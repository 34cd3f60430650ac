"""Pretrain as one of two processes, with sums of gradients during the backward pass or after it.

python tests/unit/pretraining/overlapping.py DATA OUTPUT STEPS RECIPE DEVICE

DEVICE: that on which sums overlap. Sequences are unpadded, with copies in bfloat16. Prints the number of sums
that had begun before the end of the last backward pass of each step.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import pytest

from pubmill import recipes
from pubmill.pretraining import batch_preparation, distributed
from pubmill.pretraining.distributed import OverlappedSums
from pubmill.pretraining.methods import UNPADDED
from pubmill.recipes import PretrainingRecipe
from tests.unit.pretraining import flash_reference
from tests.unit.pretraining.toy_pretraining import pretrain


def main() -> None:
    data, output, steps, recipe, device = sys.argv[1:]
    distributed.OVERLAPPING, distributed.LARGE = (device,), 100
    read = recipes.read(PretrainingRecipe, recipe)
    batch_preparation.TOKENS_AT_ONCE["cpu"] = 2 * read.sequence_length
    finish = OverlappedSums.finish

    def finishing(self: OverlappedSums) -> None:
        print(f"begun: {len(self._works)} of {len(self.weights)}", file=sys.stderr)
        finish(self)

    OverlappedSums.finish = finishing  # type: ignore[method-assign]
    flash_reference.use(pytest.MonkeyPatch(), UNPADDED)
    pretrain(Path(data), Path(output), int(steps), recipe=read)


if __name__ == "__main__":
    main()
