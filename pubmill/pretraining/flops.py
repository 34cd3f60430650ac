"""How much of a device's power is used: the arithmetic that a step needs, and what the device can do.

Model FLOPs utilisation (Chowdhery et al. 2022, appendix B) counts what the model needs, not padding or what
is worked out again. Here it is over the measured rate of a large matrix product, so that it needs no table
of devices.
"""

import time
from typing import Any, Literal

import torch

SIZE = {"cpu": 512, "cuda": 8192}
"""Rows and columns of the matrices that are multiplied to measure."""


def flops(model: Any, tokens: float, squares: float, masked: float, whole: bool = False) -> float:
    """Floating-point operations of the matrix products of an encoder's forward and backward pass.

    `tokens` are those of the batch, `squares` is the sum of the squared lengths of its sequences, `masked`
    the positions at which the vocabulary is predicted; elsewhere the last layer ends with its attention.
    `whole`: it ends nowhere, and each token is told to be replaced or not (ELECTRA's discriminator). What is
    done at [CLS] is left out, about a hundredth.
    """
    config = model.config
    hidden, layers = config.hidden_size, config.num_hidden_layers
    width = getattr(config, "embedding_size", hidden)
    projected = width != hidden or config.model_type == "albert"
    attended = 3 * tokens * hidden**2 + 2 * squares * hidden
    after = hidden**2 + 2 * hidden * config.intermediate_size
    if whole:
        last = tokens * (after + hidden**2 + hidden)
    else:
        last = masked * (after + width * (hidden + config.vocab_size))
    forward = tokens * width * hidden * projected + layers * attended + (layers - 1) * tokens * after + last
    # a product and a sum; and twice as many for the gradients of weights and inputs
    return float(2 * 3 * forward)


def measured_rate(device: torch.device, precision: Literal["float32", "bfloat16"], rounds: int = 5) -> float:
    """Operations a second of matrix products in this number format, the best of some rounds."""
    size, seeded = SIZE[device.type], torch.Generator(device).manual_seed(0)
    # GPUs multiply equal numbers faster than any that occur in training
    left = torch.randn(size, size, device=device, generator=seeded).to(getattr(torch, precision))
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
