"""Number format of matrix products, the same for pretraining and fine-tuning."""

from pathlib import Path
from typing import Literal

import torch

from pubmill.errors import PubmillError
from pubmill.recipes import Precision

NATIVE_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}
"""Processor flags: Intel's and AMD's two, and ARM's."""


def choose_precision(wanted: Precision, device: torch.device) -> Literal["float32", "bfloat16"]:
    """What matrix products are done in; weights and optimiser are in float32 always.

    `auto` is bfloat16 where the device multiplies it natively (a step of pretraining is then about
    twice as fast on 2 cores with avx512_bf16), else float32: emulated it is slower. Asking for it on a
    GPU that has none is a `PubmillError`; a processor without it obeys, slowly.
    """
    if wanted == "float32":
        return "float32"
    if multiplies_bfloat16(device):
        return "bfloat16"
    if wanted == "auto":
        return "float32"
    if device.type == "cuda":
        raise PubmillError("precision: this GPU has no bfloat16; ask for float32 or auto")
    return "bfloat16"


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
