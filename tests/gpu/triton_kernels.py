"""Triton's own compiler and interpreter on pubmill's kernels, without a GPU.

    python tests/gpu/triton_kernels.py compile
    python tests/gpu/triton_kernels.py sizes
    TRITON_INTERPRET=1 python tests/gpu/triton_kernels.py interpret

`compile` prints a JSON list with an object per kernel and GPU: `{"kernel", "capability", "warps",
"registers", "spilled", "narrow"}`: warps of a program; registers of a thread, bytes that do not fit into
them, and the instructions that move fewer than 16 bytes between memory and a thread at once. `sizes`
prints the number of versions that Triton would compile for weights of several sizes. `interpret`
compares the kernels with PyTorch's functions, as before their first use on a GPU, and prints the number of
comparisons; it raises what differs.
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

from pubmill.finetuning import update_kernel
from pubmill.finetuning.weight_updates import BETA1, BETA2, MULTIPLE, compile_update

CAPABILITIES = (80, 90)
"""A100 and H100: the oldest GPUs on which the kernels are used, and those of the figures."""
ASSEMBLER = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"


@dataclass(frozen=True)
class Variant:
    """A kernel with the types of its arguments ("*bf16" for a pointer to bfloat16), its constants, and the
    warps of a program."""

    kernel: Any
    types: dict[str, str]
    constants: dict[str, Any]
    warps: int = 4


def variants() -> list[Variant]:
    types = {
        **dict.fromkeys(("weight", "mean", "square", "factors", "scale"), "*fp32"),
        "copied": "*bf16", "parts": "i32",
    }  # fmt: skip
    constants = {"part": MULTIPLE, "block": update_kernel.BLOCK, "beta1": BETA1, "beta2": BETA2}
    kernel = update_kernel._update_block
    return [Variant(kernel, {"gradient": of, **types}, constants) for of in ("*bf16", "*fp32")]


def compiled(variant: Variant, capability: int) -> dict[str, Any]:
    """Compile a kernel for a GPU down to its instructions, for tensors at multiples of 16 bytes."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = variant.kernel.arg_names
    signature = {name: variant.types.get(name, "constexpr") for name in names}
    tensors = (name for name, kind in variant.types.items() if kind.startswith("*"))
    attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in tensors}
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
    target = re.search(r"\.target (\w+)", text)
    assert target
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(text, encoding="utf-8")
        command = [ASSEMBLER, "-v", "--gpu-name", target[1], source, "-o", Path(folder, "kernel.cubin")]
        return subprocess.run(command, check=True, capture_output=True, text=True).stderr


def count_versions() -> int:
    """Return how many versions of the update Triton would compile for one type and several sizes."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import make_backend
    from triton.runtime.jit import create_function_from_signature

    kernel = update_kernel._update_block
    bind = create_function_from_signature(
        kernel.signature, kernel.params, make_backend(GPUTarget("cuda", 90, 32))
    )
    constants = variants()[0].constants
    tensors = [torch.zeros(16)] * 7
    return len({str(bind(*tensors, size // MULTIPLE, **constants)[1]) for size in (16, 48, 1520, 2**24)})


def compare_all() -> int:
    """Compare the kernels with PyTorch's functions; return the number of comparisons."""
    update, refused = compile_update(torch.device("cpu"))
    assert update, refused
    return 1


def main() -> None:
    if sys.argv[1:] == ["interpret"]:
        print(compare_all())
    elif sys.argv[1:] == ["sizes"]:
        print(count_versions())
    else:
        print(json.dumps([compiled(one, number) for one, number in product(variants(), CAPABILITIES)]))


if __name__ == "__main__":
    main()
