"""Triton's own compiler and interpreter on pubmill's kernels, without a GPU.

    python tests/gpu/triton_kernels.py compile
    TRITON_INTERPRET=1 python tests/gpu/triton_kernels.py interpret

`compile` prints a JSON list with an object per kernel and GPU: `{"kernel", "capability", "warps",
"registers", "spilled", "narrow"}`: warps of a program; registers of a thread, bytes that do not fit into
them, and the instructions that move fewer than 16 bytes between memory and a thread at once. `interpret`
compares the kernels with PyTorch's functions, as before their first use on a GPU and at further sizes, and
prints the number of comparisons; it raises what differs.
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
from pubmill.finetuning.parameter_groups import BETA1, BETA2
from pubmill.finetuning.weight_updates import compile_update
from pubmill.pretraining import biased_gelu, gelu_kernel, norm_kernel, residual_norm
from pubmill.pretraining.seeded_dropout import threshold

CAPABILITIES = (80, 90)
"""A100 and H100: the oldest GPUs on which the kernels are used, and those of the figures."""
ASSEMBLER = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
SIZES = [(1, 1), (64, 1024), (65, 1025), (130, 48)]
"""Rows and columns: within, at and beyond the ends of a program's blocks."""
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Variant:
    """A kernel with the types of its arguments ("*bf16" for a pointer to bfloat16), its constants, and the
    warps of a program."""

    kernel: Any
    types: dict[str, str]
    constants: dict[str, Any]
    warps: int = 4


def variants() -> list[Variant]:
    """Return the ways in which the library calls its kernels."""
    return [*gelu_variants(), *norm_variants(), *update_variants()]


def gelu_variants() -> list[Variant]:
    types = {
        **dict.fromkeys(("slope", "product", "bias", "slopes"), "*bf16"), "sums": "*fp32",
        **dict.fromkeys(("rows", "width", "columns"), "i32"),
    }  # fmt: skip
    blocks = {"block": gelu_kernel.BLOCK, "rows_at_once": gelu_kernel.ROWS}
    kernel = gelu_kernel._differentiate_block
    return [Variant(kernel, types, {**blocks, "tanh": tanh}) for tanh in (True, False)]


def norm_variants() -> list[Variant]:
    """BERT's two LayerNorms of a layer, that of ALBERT-xxlarge, and that of ELECTRA-base's generator."""
    types = {
        **dict.fromkeys(("first", "second", "summed", "weight", "residual", "product"), "*bf16"),
        "seed": "*i32", "sums": "*fp32", "rows": "i32", "width": "i32", "epsilon": "fp32", "factor": "fp32",
    }  # fmt: skip
    return [
        Variant(
            norm_kernel._differentiate_rows,
            types,
            {
                "block": block, "rows_at_once": norm_kernel.ROWS, "both": both, "dropout": rate > 0,
                "least": threshold(rate),
            },
            norm_kernel.warps_of(block),
        )
        for block, both, rate in ((1024, True, 0.1), (1024, False, 0.1), (4096, True, 0.0), (256, True, 0.1))
    ]  # fmt: skip


def update_variants() -> list[Variant]:
    types = {
        **dict.fromkeys(("weight", "mean", "square", "factors", "scale"), "*fp32"),
        "copied": "*bf16", "size": "i32",
    }  # fmt: skip
    constants = {"block": update_kernel.BLOCK, "beta1": BETA1, "beta2": BETA2}
    kernel = update_kernel._update_block
    return [Variant(kernel, {"gradient": of, **types}, constants) for of in ("*bf16", "*fp32")]


def compiled(variant: Variant, capability: int) -> dict[str, Any]:
    """Compile a kernel for a GPU down to its instructions, for sizes that are multiples of 16."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = variant.kernel.arg_names
    signature = {name: variant.types.get(name, "constexpr") for name in names}
    whole = (name for name, kind in variant.types.items() if kind != "fp32")
    attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in whole}
    source = ASTSource(variant.kernel, signature, variant.constants, attributes)
    target, options = GPUTarget("cuda", capability, 32), {"num_warps": variant.warps}
    text = triton.compile(source, target=target, options=options).asm["ptx"]
    said = assembled(text)
    return {
        "kernel": variant.kernel.fn.__name__,
        "capability": capability,
        "warps": variant.warps,
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
    done = 0
    for kind, (rows, width) in product(("none", "tanh"), SIZES):
        slope, values, _, bias, _ = numbers(rows, width)
        done += close(biased_gelu, slope, values, bias, kind)
    for rate, both, (rows, width) in product((0.0, 0.1), (False, True), SIZES):
        slope, values, other, weight, seed = numbers(rows, width)
        done += close(residual_norm, slope, other if both else None, values, weight, seed, rate, 1e-5)
    biased_gelu._check_kernel(CPU, "none")
    residual_norm._check_kernel(CPU, 768, True, 0.1, 1e-12)
    update, refused = compile_update(CPU)
    assert update, refused
    return done + 3


def close(module: Any, *given: Any) -> bool:
    """Return true; raise an AssertionError if a kernel differs from PyTorch's functions."""
    for found, expected in zip(module._kernel(*given), module.plain_slopes(*given), strict=True):
        torch.testing.assert_close(found, expected, rtol=2**-7, atol=4e-3)
    return True


def numbers(rows: int, width: int) -> tuple[Tensor, ...]:
    """Return three tensors (rows, width) and a weight (width,) in bfloat16, and a seed."""
    seeded = torch.Generator().manual_seed(rows)
    shapes = (rows, width), (rows, width), (rows, width), (width,)
    first, second, third, weight = (torch.randn(shape, generator=seeded).bfloat16() for shape in shapes)
    return first, 3 * second, third, weight, torch.tensor([5, -9]).int()


def main() -> None:
    if sys.argv[1:] == ["interpret"]:
        print(compare_all())
    else:
        print(json.dumps([compiled(one, number) for one, number in product(variants(), CAPABILITIES)]))


if __name__ == "__main__":
    main()
