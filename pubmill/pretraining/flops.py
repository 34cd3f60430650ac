"""How much of a device's power is used: the arithmetic that a step needs, and what the device can do.

Model FLOPs utilisation (Chowdhery et al. 2022, appendix B) counts what the model needs, not padding or what
is worked out again. Here it is over the measured rate of a large matrix product, so that it needs no table
of devices.
"""

import time
from typing import Any, Literal

import torch

SIZE = {"cpu": 1024, "cuda": 8192}
"""Rows and columns of the matrices that are multiplied to measure."""


def flops(model: Any, tokens: float, squares: float, masked: float, whole: bool = False) -> float:
    """Floating-point operations of an encoder's forward and backward pass.

    `tokens` are those of the batch, `squares` is the sum of the squared lengths of its sequences, `masked`
    the positions at which the vocabulary is predicted. `whole`: the last layer is worked out at all
    positions, not only at the masked ones.
    """
    config = model.config
    hidden, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    before, after = 2 * 3 * hidden * hidden, 2 * (hidden * hidden + 2 * hidden * inner)
    attention = 4 * squares * hidden
    last = tokens if whole else masked
    forward = layers * (tokens * before + attention) + ((layers - 1) * tokens + last) * after
    if not whole:
        width = getattr(config, "embedding_size", hidden)
        forward += masked * 2 * (hidden * width + width * config.vocab_size)
    return float(3 * forward)


def measured_rate(device: torch.device, precision: Literal["float32", "bfloat16"], rounds: int = 5) -> float:
    """Operations a second of matrix products in this number format, the best of some rounds."""
    size = SIZE[device.type]
    left = torch.ones(size, size, device=device, dtype=getattr(torch, precision))
    best = float("inf")
    for _ in range(rounds + 1):
        _wait(device)
        began = time.perf_counter()
        left @ left
        _wait(device)
        best = min(best, time.perf_counter() - began)
    return float(2 * size**3 / best)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
