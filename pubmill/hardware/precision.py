"""Number format of matrix products, the same for pretraining and fine-tuning."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import torch

from pubmill.errors import PubmillError
from pubmill.recipes import Precision

NumberFormat = Literal["float32", "bfloat16", "float16"]
TENSOR_CORES = (7, 0)
"""Compute capability of the oldest GPUs with tensor cores: Volta, which have float16 but no bfloat16."""
NATIVE_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}
"""Processor flags: Intel's and AMD's two, and ARM's."""


def choose_precision(wanted: Precision, device: torch.device) -> NumberFormat:
    """Return the number format of matrix products; weights and optimiser are always in float32.

    `auto` is bfloat16 where the device multiplies it natively (a step of pretraining is then about
    twice as fast on 2 cores with avx512_bf16), else float16 on GPUs with tensor cores, else float32:
    emulated, both are slower. Raises a `PubmillError` for bfloat16 on a GPU without it; a processor
    without it emulates it slowly.
    """
    if wanted == "bfloat16" and device.type == "cuda" and not multiplies_bfloat16(device):
        raise PubmillError("precision: this GPU has no bfloat16; ask for float16, float32 or auto")
    if wanted != "auto":
        return wanted
    if multiplies_bfloat16(device):
        return "bfloat16"
    if device.type == "cuda" and torch.cuda.get_device_capability(device) >= TENSOR_CORES:
        return "float16"
    return "float32"


def autocast(device: torch.device, precision: str) -> AbstractContextManager[None]:
    """Return the context in which PyTorch computes products in this precision."""
    half = torch.float16 if precision == "float16" else torch.bfloat16
    return torch.autocast(device.type, half, enabled=precision != "float32")


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether a device has instructions for products of bfloat16."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and bool(cpu_flags() & NATIVE_BFLOAT16)


def cpu_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str]:
    """Return the processor's flags (ARM: features); empty where the system does not list them."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        return set()
    return {flag for line in lines if line.lower().startswith(("flags", "features")) for flag in line.split()}
