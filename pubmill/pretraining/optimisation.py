"""How the weights are moved: Adam, its learning rate at each step, and the precision of the products."""

from pathlib import Path

import torch
from torch import nn

from pubmill.errors import PubmillError
from pubmill.recipes import Optimisation, Precision

NATIVE_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}


def build_optimizer(model: nn.Module, optimisation: Optimisation) -> torch.optim.AdamW:
    """Adam with bias correction and decoupled weight decay, but none on biases and LayerNorm (as in BERT)."""
    matrices = [weight for weight in model.parameters() if weight.ndim > 1]
    vectors = [weight for weight in model.parameters() if weight.ndim <= 1]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": optimisation.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=optimisation.learning_rate,
        betas=(optimisation.beta1, optimisation.beta2),
        eps=optimisation.epsilon,
        fused=True,
    )


def learning_rate(optimisation: Optimisation, step: int, steps: int) -> float:
    """The rate of a step (from 0) of `steps`: linear to the peak, then to zero (gu2020 section 6.1)."""
    rising = max(1, round(optimisation.warmup * steps))
    if step < rising:
        return optimisation.learning_rate * (step + 1) / rising
    return optimisation.learning_rate * (steps - step) / (steps - rising + 1)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Use this rate for the next update."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def choose_precision(precision: Precision, device: torch.device) -> torch.dtype:
    """What matrix products are done in; weights and optimiser are in float32 always.

    `auto` is bfloat16 where the processor has instructions for it (a step is then about twice as
    fast on 2 cores with avx512_bf16), else float32. Asking for it where a GPU has none is a `PubmillError`.
    """
    native = torch.cuda.is_bf16_supported() if device.type == "cuda" else bool(cpu_flags() & NATIVE_BFLOAT16)
    if precision == "bfloat16" and device.type == "cuda" and not native:
        raise PubmillError("precision: this GPU has no bfloat16; ask for float32 or auto")
    if precision == "bfloat16" or (precision == "auto" and native):
        return torch.bfloat16
    return torch.float32


def cpu_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str]:
    """What this processor says it can do; nothing where the system does not tell."""
    if not cpuinfo.is_file():
        return set()
    lines = cpuinfo.read_text().splitlines()
    return {flag for line in lines if line.lower().startswith(("flags", "features")) for flag in line.split()}
