"""Rotary positions of ModernBERT: the rotation of a layer's queries and keys, as it is and compiled.

    .venv/bin/python benchmarks/rotation.py [--quick]

2,048 tokens of ModernBERT-base on one thread, in processor seconds, forward and backward: the function of
unpadded sequences as PyTorch runs it and as torch.compile compiles it, as on a GPU; the function of padded
batches, which a processor computes; and the rest of a layer without attention. The best of several rounds
counts, because other work only slows them. Needs a C++ compiler.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

import torch
from torch import Tensor

from benchmarks.pretraining import MODERN
from pubmill.pretraining.rotary_layers import (
    Numbers,
    SplitAndRotate,
    after_attention,
    angles,
    before_attention,
    turn,
)

TOKENS, HEADS, WIDTH, INNER = 2048, MODERN.attention_heads, MODERN.hidden_size, MODERN.intermediate_size
SHAPES = [(WIDTH,), (3 * WIDTH, WIDTH), (WIDTH, WIDTH), (WIDTH,), (2 * INNER, WIDTH), (WIDTH, INNER)]
"""Weights of a layer, in order of use."""
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
Function = Callable[[Tensor], tuple[Tensor, ...]]


def of_padded_batches(product: Tensor, turned: Tensor) -> tuple[Tensor, ...]:
    made = SplitAndRotate.apply(product[None], turned.to(product.dtype), HEADS)
    return tuple(part[0].transpose(0, 1) for part in made)


def rest_of_layer(product: Tensor, weights: list[Tensor]) -> tuple[Tensor, ...]:
    """Compute a layer without rotation and attention, whose context is the query."""
    context = before_attention(product[:, :WIDTH], weights[:2], 1e-5)[:, :WIDTH]
    made = after_attention(context, product[:, WIDTH : 2 * WIDTH], weights[2:], Numbers(0.0, 1e-5))
    return (made.view(TOKENS, HEADS, -1),) * 3


def measured(function: Function, product: Tensor, slopes: list[Tensor]) -> tuple[float, list[Tensor]]:
    """Return the processor seconds of both passes, and the results with the gradient."""
    begun = time.process_time()
    made = function(product)
    [slope] = torch.autograd.grad(made, product, slopes)
    return time.process_time() - begun, [*(part.detach() for part in made), slope]


def compare(name: str, rounds: int) -> list[str]:
    """Print the milliseconds in one format of numbers; return the lines of ratios."""
    draw = torch.Generator().manual_seed(1)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw).to(TYPES[name])

    product, slopes = drawn(TOKENS, 3 * WIDTH).requires_grad_(), [drawn(TOKENS, HEADS, 64) for _ in range(3)]
    weights = [drawn(*shape).requires_grad_() for shape in SHAPES]
    turned = angles(torch.arange(TOKENS), 10_000 ** (-torch.arange(0, 64, 2) / 64))
    ways: dict[str, Function] = {
        "as it is": partial(turn, angles=turned, heads=HEADS),
        "compiled": partial(torch.compile(turn, fullgraph=True, dynamic=False), angles=turned, heads=HEADS),
        "padded batches": partial(of_padded_batches, turned=turned),
        "rest of the layer": partial(rest_of_layer, weights=weights),
    }
    results = {way: measured(function, product, slopes)[1] for way, function in ways.items()}
    best = {way: min(measured(ways[way], product, slopes)[0] for _ in range(rounds)) for way in ways}
    print(f"{name}: " + ", ".join(f"{way} {1e3 * seconds:.1f} ms" for way, seconds in best.items()))
    pairs = zip(results["as it is"], results["compiled"], strict=True)
    apart = max(float((left - right).abs().max()) for left, right in pairs)
    return [
        f"{name}, compiled: {best['as it is'] / best['compiled']:.2f} times as fast",
        f"{name}, padded batches: {best['padded batches'] / best['rest of the layer']:.3f} of the rest",
        f"{name}, largest difference of compiled results: {apart:.1g}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 25")
    rounds = 3 if parser.parse_args().quick else 25
    torch.set_num_threads(1)
    lines = [line for name in TYPES for line in compare(name, rounds)]
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
