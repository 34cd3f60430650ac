"""How much of a device's power is used: the arithmetic that a step needs, and what the device can do.

Model FLOPs utilisation (Chowdhery et al. 2022, appendix B) counts what the model needs, not padding or what
is worked out again. Here it is over the measured rate of a large matrix product, so that it needs no table
of devices.
"""

import time
from typing import Any, Literal

import torch

from pubmill.pretraining.arithmetic import NetworkShape
from pubmill.pretraining.objectives import Size, step_operations
from pubmill.pretraining.objectives.learner import Learner

SIZE = {"cpu": 512, "cuda": 8192}
"""Rows and columns of the matrices that are multiplied to measure."""


def shape_of_network(model: Any) -> NetworkShape:
    """The shape of a model of transformers."""
    config = model.config
    width = getattr(config, "embedding_size", config.hidden_size)
    return NetworkShape(
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        intermediate=config.intermediate_size,
        embedding=width,
        projected=width != config.hidden_size or config.model_type == "albert",
        pieces=config.vocab_size,
    )


def flops_of_step(learner: Learner, tokens: float, squares: float, masked: float) -> float:
    """Operations of all networks that learn or teach in a step, without what is recomputed."""
    networks = {name: shape_of_network(model) for name, model in learner.networks.items()}
    return step_operations(learner.objective, networks, Size(tokens, squares, masked))


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
