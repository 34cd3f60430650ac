"""Learning rate, optimiser and precision of a fine-tuning (gu2020 section 6.2)."""

from pathlib import Path
from typing import Literal

import torch
from torch import nn

from pubmill.recipes import FinetuningRecipe


def schedule(step: int, total: int, warmup: float) -> float:
    """Share of the peak learning rate at `step` (from 0) of `total` (gu2020 section 6.2).

    The slanted triangle: linear up over the first `warmup` share of the steps, then down to zero.
    """
    rising = warmup * total
    if step + 1 <= rising:
        return (step + 1) / rising
    return min(1.0, (total - step) / (total - rising))


def adam(tagger: nn.Module, recipe: FinetuningRecipe) -> torch.optim.Optimizer:
    """Adam with bias correction; weight decay, where the recipe has it, spares biases and layer norms."""
    parameters = [parameter for parameter in tagger.parameters() if parameter.requires_grad]
    matrices = [parameter for parameter in parameters if parameter.ndim > 1]
    others = [parameter for parameter in parameters if parameter.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)


def resolve_precision(wanted: str, device: torch.device) -> Literal["float32", "bfloat16"]:
    """`auto` is bfloat16 where the device multiplies it natively (there it is faster), else float32."""
    if wanted == "float32" or wanted == "bfloat16":
        return wanted  # type: ignore[return-value]
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    return "bfloat16" if _processor_flags() & {"avx512_bf16", "amx_bf16"} else "float32"


def _processor_flags() -> set[str]:
    """Instruction sets of the processor as Linux lists them; none known elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return next((set(line.split()) for line in lines if line.startswith("flags")), set())
