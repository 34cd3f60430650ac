"""Triton's own compiler and interpreter on pubmill's kernels, without a GPU.

    python tests/gpu/triton_kernels.py compile
    TRITON_INTERPRET=1 python tests/gpu/triton_kernels.py interpret

`compile` prints a JSON list with an object per kernel and GPU: `{"kernel", "capability", "registers",
"spilled", "narrow"}`: registers of a thread, bytes that do not fit into them, and the instructions that move
fewer than 16 bytes between memory and a thread at once. `interpret` compares the kernels with PyTorch's
functions, as before their first use on a GPU and at further sizes, and prints the number of comparisons;
it raises what differs.
"""

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import triton
from torch import Tensor

from pubmill.finetuning import update_kernel
from pubmill.finetuning.parameter_groups import BETA1, BETA2, EPSILON
from pubmill.finetuning.weight_updates import compile_update
from pubmill.pretraining import biased_gelu, gelu_kernel

CAPABILITIES = (80, 90)
"""A100 and H100: the oldest GPUs on which the kernels are used, and those of the figures."""
ASSEMBLER = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
SIZES = [(1, 1), (64, 1024), (65, 1025), (130, 48)]
"""Rows and columns: within, at and beyond the ends of a program's blocks."""
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Variant:
    """A kernel with the types of its arguments ("bf16" for a pointer to bfloat16) and its constants."""

    kernel: Any
    types: dict[str, str]
    constants: dict[str, Any]


def variants() -> list[Variant]:
    """Return every way in which the library calls its kernels."""
    gelu = {
        **dict.fromkeys(("slope", "product", "bias", "slopes"), "*bf16"), "sums": "*fp32",
        **dict.fromkeys(("rows", "width", "columns"), "i32"),
    }  # fmt: skip
    blocks = {"block": gelu_kernel.BLOCK, "rows_at_once": gelu_kernel.ROWS}
    adam = {
        **dict.fromkeys(("weight", "mean", "square", "factors", "scale"), "*fp32"),
        "copied": "*bf16", "size": "i32",
    }  # fmt: skip
    rates = {
        "block": update_kernel.BLOCK, "beta1": BETA1, "beta2": BETA2, "epsilon": EPSILON,
    }  # fmt: skip
    slopes = (
        Variant(gelu_kernel._differentiate_block, gelu, {**blocks, "tanh": one}) for one in (True, False)
    )
    updates = (
        Variant(update_kernel._update_block, {"gradient": of, **adam}, rates) for of in ("*bf16", "*fp32")
    )
    return [*slopes, *updates]


def compiled(variant: Variant, capability: int) -> dict[str, Any]:
    """Compile a kernel for a GPU down to its instructions, for sizes that are multiples of 16."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = variant.kernel.arg_names
    signature = {name: variant.types.get(name, "constexpr") for name in names}
    attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in variant.types}
    source = ASTSource(variant.kernel, signature, variant.constants, attributes)
    text = triton.compile(source, target=GPUTarget("cuda", capability, 32)).asm["ptx"]
    said = assembled(text)
    return {
        "kernel": variant.kernel.fn.__name__,
        "capability": capability,
        "registers": int(re.findall(r"Used (\d+) registers", said)[0]),
        "spilled": sum(map(int, re.findall(r"(\d+) bytes spill", said))),
        "narrow": len(re.findall(r"(?:ld|st)\.global(?!\.v4\.b32)", text)),
    }


def assembled(text: str) -> str:
    """Return what NVIDIA's assembler reports of a kernel."""
    target = re.search(r"\.target (\w+)", text)
    assert target
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(text)
        command = [ASSEMBLER, "-v", "--gpu-name", target[1], source, "-o", Path(folder, "kernel.cubin")]
        return subprocess.run(command, check=True, capture_output=True, text=True).stderr


def compare_all() -> int:
    """Compare the kernels with PyTorch's functions; return the number of comparisons."""
    kinds = ("none", "tanh")
    for kind, size in product(kinds, SIZES):
        given = numbers(*size)
        ours, theirs = biased_gelu._kernel(*given, kind), biased_gelu.plain_slopes(*given, kind)
        for found, expected in zip(ours, theirs, strict=True):
            torch.testing.assert_close(found, expected, rtol=2**-7, atol=1e-4)
    for kind in kinds:
        biased_gelu._check_kernel(CPU, kind)
    update, refused = compile_update(CPU)
    assert update, refused
    return len(kinds) * (len(SIZES) + 1) + 1


def numbers(rows: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return gradients, products and biases in bfloat16."""
    seeded = torch.Generator().manual_seed(rows)
    shapes = (rows, width), (rows, width), (width,)
    slope, values, bias = (torch.randn(shape, generator=seeded).bfloat16() for shape in shapes)
    return slope, 3 * values, bias


def main() -> None:
    if sys.argv[1:] == ["interpret"]:
        print(compare_all())
    else:
        print(json.dumps([compiled(one, number) for one, number in product(variants(), CAPABILITIES)]))


if __name__ == "__main__":
    main()
