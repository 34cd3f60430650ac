"""Utilisation of a device: the operations that a step needs, and the rate that the device reaches.

Model FLOPs utilisation (Chowdhery et al. 2022, appendix B) counts the operations of the model, without
padding and recomputation. Here it is relative to the measured rate of a large matrix product, so that no
table of devices is needed.
"""

import time
from typing import Any

import torch

from pubmill.hardware.torch_setup import NumberFormat
from pubmill.pretraining.arithmetic import NetworkShape, Size, step_operations
from pubmill.pretraining.learners import Learner

SIZE = {"cpu": 512, "cuda": 8192}
"""Rows and columns of the matrices for the measurement."""


def shape_of_network(model: Any) -> NetworkShape:
    """Return the sizes of a transformers model."""
    config, gated = model.config, model.config.model_type == "modernbert"
    width = getattr(config, "embedding_size", config.hidden_size)
    return NetworkShape(
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        intermediate=config.intermediate_size,
        embedding=width,
        projected=width != config.hidden_size or config.model_type == "albert",
        pieces=config.vocab_size,
        gated=gated,
        local=config.layer_types.count("sliding_attention") if gated else 0,
        window=config.local_attention if gated else 0,
    )


def flops_of_step(learner: Learner, tokens: float, squares: float, masked: float) -> float:
    """Return the operations of all networks that learn or teach in a step, without recomputation."""
    networks = {name: shape_of_network(model) for name, model in learner.networks.items()}
    return step_operations(learner.objective, networks, Size(tokens, squares, masked))


def measured_rate(device: torch.device, precision: NumberFormat, rounds: int = 5) -> float:
    """Return the operations a second of matrix products in this number format, the best of some rounds."""
    size, seeded = SIZE[device.type], torch.Generator(device).manual_seed(0)
    # Random numbers: GPUs multiply equal ones faster than any that occur in training.
    left = torch.randn(size, size, device=device, generator=seeded).to(getattr(torch, precision))
    best = float("inf")
    for _ in range(rounds + 1):
        _synchronise(device)
        began = time.perf_counter()
        left @ left
        _synchronise(device)
        best = min(best, time.perf_counter() - began)
    return float(2 * size**3 / best)


def _synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
