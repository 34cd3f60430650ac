"""Loss scaling, without which small gradients are zero in float16 (Micikevicius et al. 2018)."""

from typing import TypedDict

import torch

SMALLEST = 2.0**-13
"""Scale below which no smaller one is tried, about that of fairseq (1e-4)."""


class ScalingState(TypedDict, total=False):
    """State for records and checkpoints; empty if losses are not scaled and never were."""

    skipped: int
    scale: float
    updates_at_scale: int


class LossScaling:
    """PyTorch's `GradScaler` with its default settings, and the number of steps that it skipped.

    The loss is multiplied by a scale (2 ** 16 at first), and the gradients are divided by it. If one of them
    is then infinite or NaN, the update is not made and the scale is halved; after 2,000 updates in a row it
    is doubled. In other formats than float16, nothing is scaled and no update is skipped.

    The batch of a skipped step is not used again, as in Megatron-LM and fairseq, so that a batch that
    overflows at every scale does not stop the training. Neither Adam nor the schedule of learning rates
    counts skipped steps, as in Megatron-LM, fairseq and transformers' Trainer.
    """

    def __init__(self, precision: str, device: torch.device) -> None:
        self._scaler = torch.amp.GradScaler(device.type, enabled=precision == "float16")
        self.skipped = 0
        self.scale = self._scaler.get_scale()
        self._unscaled = False

    @property
    def active(self) -> bool:
        """Return whether losses are scaled."""
        return self._scaler.is_enabled()

    def backward(self, loss: torch.Tensor) -> None:
        """Add the gradients of the scaled loss."""
        self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]

    def unscale(self, optimiser: torch.optim.Optimizer) -> None:
        """Divide the gradients of all parts of a batch by the scale, before they are clipped."""
        if self._unscaled:  # The step was not completed, as memory was too small, and is repeated.
            self._scaler.update(self.scale)
        self._unscaled = True
        self._scaler.unscale_(optimiser)

    def step(self, optimiser: torch.optim.Optimizer) -> bool:
        """Make the optimiser's step with unscaled gradients; return whether it was made. Raises
        `FloatingPointError` if gradients are still infinite or NaN at the smallest scale."""
        before = self.scale
        self._scaler.step(optimiser)
        self._scaler.update()
        self._unscaled = False
        self.scale = self._scaler.get_scale()
        if self.scale >= before:
            return True
        self.skipped += 1
        if self.scale < SMALLEST:
            raise FloatingPointError(f"gradients are not finite at any loss scale down to {before:g}")
        return False

    def state(self) -> ScalingState:
        """Return the state for records and checkpoints."""
        if not self.active:
            return {"skipped": self.skipped} if self.skipped else {}
        kept = self._scaler.state_dict()
        return {"skipped": self.skipped, "scale": kept["scale"], "updates_at_scale": kept["_growth_tracker"]}

    def restore(self, state: ScalingState) -> None:
        """Continue from a `state`, which may be that of a training without scaling."""
        self.skipped = state.get("skipped", 0)
        if self.active and "scale" in state:
            known = {"scale": state["scale"], "_growth_tracker": state["updates_at_scale"]}
            self._scaler.load_state_dict(self._scaler.state_dict() | known)
            self.scale = self._scaler.get_scale()
