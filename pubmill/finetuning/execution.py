"""Choice of how a device computes a fine-tuning: precision of the working weights, batches, CUDA graphs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from pubmill.recipes import batch_memory

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How encoder and update are computed.

    `weights`: precision of the weights that the encoder computes with; the optimiser's are float32.
    `graphs`: whether steps of a shape seen before are replayed as CUDA graphs. `width`: batches are padded to
    a multiple of it. `prediction_tokens`: padded tokens per prediction batch.
    """

    weights: batch_memory.Weights = "float32"
    graphs: bool = False
    width: int = 1
    prediction_tokens: int = 4096  # on a processor, larger batches are not faster


PLAIN = Execution()
ON_GPU = Execution(width=8, prediction_tokens=32_768)
ON_TENSOR_CORES = Execution(weights="bfloat16", graphs=True, width=16, prediction_tokens=32_768)


def choose_execution(device: torch.device, precision: str) -> Execution:
    """Return the fastest way that the device has.

    GPUs without bfloat16 (V100), and recipes that require float16 or float32, compute step by step with the
    optimiser's own weights, like processors: scaled losses make an update depend on values on the host.
    """
    if device.type != "cuda":
        return PLAIN
    return ON_TENSOR_CORES if precision == "bfloat16" else ON_GPU


def tokens_at_once(encoder: "PreTrainedModel", device: torch.device, execution: Execution) -> int | None:
    """Return the padded tokens that a GPU can compute at once; None for a processor, which computes each
    batch at once."""
    if device.type != "cuda":
        return None
    config, memory = encoder.config, torch.cuda.get_device_properties(device).total_memory
    return batch_memory.tokens_at_once(
        memory, config.num_hidden_layers, config.hidden_size, execution.weights
    )
