"""PyTorch's settings of the training programs, for the part of a benchmark that stands for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from pubmill.hardware.torch_setup import configure_cuda

PRODUCTS = ("allow_tf32", "allow_bf16_reduced_precision_reduction", "allow_fp16_reduced_precision_reduction")


@contextmanager
def production_settings(deterministic: bool) -> Iterator[None]:
    """Compute as the programs do (`configure_cuda`); afterwards, the settings are those from before, which
    are the peers'."""
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    products = {name: getattr(cuda.matmul, name) for name in PRODUCTS}
    recurrent, attention = cudnn.allow_tf32, cuda.cudnn_sdp_enabled()
    memory: Any = torch.utils.deterministic
    mode, fills = torch.get_deterministic_debug_mode(), memory.fill_uninitialized_memory
    configure_cuda(deterministic)
    try:
        yield
    finally:
        for name, value in products.items():
            setattr(cuda.matmul, name, value)
        cudnn.allow_tf32 = recurrent
        cuda.enable_cudnn_sdp(attention)
        torch.set_deterministic_debug_mode(mode)
        memory.fill_uninitialized_memory = fills
