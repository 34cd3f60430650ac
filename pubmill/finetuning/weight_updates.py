"""Choice of how a GPU updates a large weight: one compiled kernel, if it works there, or PyTorch's own."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pubmill.finetuning.parameter_groups import BETA1, BETA2
from pubmill.hardware.compilers import fault_of_kernels
from pubmill.messages.progress import report_slower

Update = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], None]
"""A function of gradient, weight, both moments, the weight's copy, factors (`factors_of`) and the divisor of
gradients; it changes weight, moments and copy in place."""
MULTIPLE = 16
"""Divisor of the elements of a weight that the compiled kernel updates."""
CHECKED = 95 * MULTIPLE
"""Number of weights in the check: more than a block."""


def factors_of(rate: float, decay: float, update: int | None, epsilon: float) -> list[float]:
    """Return learning rate, weight decay, step size, divisor of the second moment's root, and epsilon.

    `update`: number of the update, from 1; None: Adam without bias correction."""
    first, second = (1.0, 1.0) if update is None else (1 - BETA1**update, 1 - BETA2**update)
    return [rate, rate * decay, rate / first, second**0.5, epsilon]


@torch.no_grad()
def plain_update(
    gradient: Tensor,
    weight: Tensor,
    mean: Tensor,
    square: Tensor,
    copied: Tensor,
    factors: Tensor,
    scale: Tensor,
) -> None:
    """Update a weight by Adam with PyTorch's kernels, and copy it; the reference for the compiled kernel."""
    slope = gradient.float() / scale
    mean.lerp_(slope, 1 - BETA1)
    square.mul_(BETA2).addcmul_(slope, slope, value=1 - BETA2)
    weight.sub_(factors[1] * weight)
    weight.sub_(factors[2] * mean / (square.sqrt() / factors[3] + factors[4]))
    copied.copy_(weight)


def compile_update(device: torch.device) -> tuple[Update | None, str | None]:
    """Return the compiled kernel, or None and why it does not work on the device."""
    try:
        from pubmill.finetuning.update_kernel import compiled_update

        check_update(compiled_update, device)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # Whatever a compiler raises, or its absence.
        refused = fault_of_kernels(error)
        report_slower(f"the weight update cannot be compiled ({refused}); PyTorch's own kernels are used")
        return None, refused
    return compiled_update, None


def check_update(update: Update, device: torch.device) -> None:
    """Compile the update for all types of gradients; raise a RuntimeError if it is not `plain_update`."""
    for dtype in (torch.bfloat16, torch.float32):
        found, expected = _example(dtype, device), _example(dtype, device)
        update(*found)
        plain_update(*expected)
        if not _are_close(found, expected):
            raise RuntimeError("it gives other numbers than PyTorch's kernels")


def _example(dtype: torch.dtype, device: torch.device) -> Sequence[Tensor]:
    """Return arguments of an update, without drawing random numbers."""
    values = torch.linspace(-1.0, 1.0, CHECKED, device=device)
    factors = torch.tensor(factors_of(1e-3, 0.1, 3, 1e-6), device=device)
    copied, scale = torch.zeros_like(values, dtype=torch.bfloat16), torch.full((), 1.5, device=device)
    return values.roll(7).to(dtype), values.clone(), values / 3, values**2, copied, factors, scale


def _are_close(found: Sequence[Tensor], expected: Sequence[Tensor]) -> bool:
    """Return whether tensors are equal but for rounding, to that of bfloat16 in copies; False for NaN."""
    close = []
    for one, other in zip(found, expected, strict=True):
        part = 1e-2 if one.dtype == torch.bfloat16 else 1e-5
        close.append(((one - other).abs() <= 1e-6 + part * other.abs()).all())
    return bool(torch.stack(close).all())
