"""Pretrain with an infinite gradient in the last process, in the first and the third step.

python tests/unit/pretraining/overflowing.py DATA OUTPUT STEPS RECIPE
"""

import math
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from torch.nn import Parameter

from pubmill import recipes
from pubmill.pretraining.distributed import World
from pubmill.recipes import PretrainingRecipe
from tests.unit.pretraining.toy_pretraining import pretrain

OVERFLOWING = (1, 3)


def main() -> None:
    data, output, steps, recipe = sys.argv[1:]
    add, calls = World.add_gradients, [0]

    def adding(self: World, weights: Iterable[Parameter]) -> None:
        weights, calls[0] = list(weights), calls[0] + 1
        if calls[0] in OVERFLOWING and self.rank == self.size - 1:
            assert weights[0].grad is not None
            weights[0].grad[0, 0] = math.inf
        add(self, weights)

    World.add_gradients = adding  # type: ignore[method-assign]
    pretrain(Path(data), Path(output), int(steps), recipe=recipes.read(PretrainingRecipe, recipe))


if __name__ == "__main__":
    main()
