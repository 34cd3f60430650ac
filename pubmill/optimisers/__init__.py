"""Registry of optimisers (the state that each keeps per weight, its constructor and cost) and schedules of
learning rates: a linear rise to the peak, then a fall, at once or after a stable stretch. Loads no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

COUNT = "step"
"""Name of the state entry that is a single number; every other entry has the size of its weight."""
FLOAT32 = 4
ITERATIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimiser:
    """An optimiser of class `kind` (`module:class`). `state`: names of the state entries of each weight, all
    of which are in checkpoints; `settings`: constructor arguments that are always used. `matrices`: groups of
    hidden matrices are marked as `orthogonal`, and lack the last entry of the state."""

    kind: str
    state: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    matrices: bool = False

    @property
    def state_bytes(self) -> int:
        """Bytes of float32 state per parameter."""
        return FLOAT32 * sum(name != COUNT for name in self.state)

    @property
    def checkpoint_bytes(self) -> int:
        """Bytes of a checkpoint per parameter: weight and state."""
        return FLOAT32 + self.state_bytes

    @property
    def training_bytes(self) -> int:
        """Bytes of memory per parameter in training: weight, gradient, a copy, and the state."""
        return 3 * FLOAT32 + self.state_bytes

    def make(self, groups: Sequence[dict[str, Any]], sharded: bool = False, **settings: Any) -> Any:
        """Return the `torch.optim.Optimizer` of these groups. `sharded`: each process keeps its share of the
        state."""
        module, _, name = self.kind.partition(":")
        kind, settings = getattr(import_module(module), name), {**settings, **self.settings}
        if sharded:
            sharding = import_module("torch.distributed.optim")  # here, as it imports the old torch.jit
            return sharding.ZeroRedundancyOptimizer(groups, optimizer_class=kind, **settings)
        return kind(groups, **settings)


ADAM = COUNT, "exp_avg", "exp_avg_sq"
OPTIMISERS: dict[str, Optimiser] = {
    "adamw": Optimiser(kind="torch.optim:AdamW", state=ADAM, settings={"fused": True}),
    "lamb": Optimiser(kind="pubmill.optimisers.adaptive:Lamb", state=ADAM),
    "decoupled-adamw": Optimiser(kind="pubmill.optimisers.adaptive:DecoupledAdamW", state=ADAM),
    "stable-adamw": Optimiser(kind="pubmill.optimisers.adaptive:StableAdamW", state=ADAM),
    "muon": Optimiser(kind="pubmill.optimisers.muon:Muon", state=ADAM, matrices=True),
}
"""Optimisers by their name in recipes."""


def orthogonal_operations(rows: int, columns: int) -> int:
    """Return the operations of the matrix products for the update of one matrix. Forward and backward pass
    need 6 operations for each weight and token. Relative to these, a square matrix of m rows needs
    `ITERATIONS` x m / B in a step of B tokens: with m = 1024, 31 % at 16,384 tokens and 0.1 % at 4
    million."""
    less, more = sorted((rows, columns))
    return ITERATIONS * 2 * (2 * less**2 * more + less**3)


def triangle(step: int, steps: int, rising: float, top: float) -> tuple[float, float]:
    """Return the share of the peak rate at `step` (from 0) of `steps`, as numerator and denominator. The rate
    rises over the first `rising` steps, then falls on the line from the peak at step `top` to zero at step
    `steps`, one after the last. Pretraining reaches its peak at one step, the last of the rise (`top` is
    `rising - 1`); fine-tuning stays at the peak for one more step (`top` is `rising`)."""
    if step + 1 <= rising:
        return step + 1, rising
    return min(steps - step, steps - top), steps - top


def stable(step: int, steps: int, rising: int, falling: int, last: float, root: bool) -> float:
    """Return the share of the peak rate at `step` (from 0) of `steps`: 1 except in the first `rising` and the
    last `falling` steps. It falls towards the share `last`, which `step` = `steps` would have, linearly or
    with the root of the steps (Haegele et al. 2024, section 3.1: 1-sqrt; AnswerDotAI/ModernBERT@8c57a0f
    src/scheduler.py)."""
    if step + 1 <= rising:
        return (step + 1) / rising
    done = max(0.0, (step - (steps - falling)) / max(1, falling))
    return last + (1 - last) * (1 - (done**0.5 if root else done))
