"""Sizes and operation counts of encoders, without torch, as planning needs them."""

from collections.abc import Mapping
from dataclasses import dataclass

from pubmill.recipes import Architecture


@dataclass(frozen=True)
class NetworkShape:
    """Sizes of an encoder. `embedding`: width of the embeddings; `projected`: whether they are projected to
    `hidden`; `pieces`: vocabulary size; `shared`: whether all layers share their weights;
    `gated`: whether feed-forward layers have gates; `local`: number of layers with attention within a window
    of `window` tokens."""

    layers: int
    hidden: int
    intermediate: int
    embedding: int
    projected: bool
    pieces: int
    shared: bool = False
    gated: bool = False
    local: int = 0
    window: int = 0


def shape_of(architecture: Architecture, pieces: int) -> NetworkShape:
    """Return the sizes of a recipe's encoder."""
    width = architecture.embedding_size or architecture.hidden_size
    return NetworkShape(
        layers=architecture.layers,
        hidden=architecture.hidden_size,
        intermediate=architecture.intermediate_size,
        embedding=width,
        projected=width != architecture.hidden_size or architecture.family == "albert",
        pieces=pieces,
        shared=architecture.family == "albert",
        gated=architecture.gated,
        local=architecture.rotary.local_layers(architecture.layers) if architecture.gated else 0,
        window=architecture.rotary.window,
    )


def operations(
    shape: NetworkShape, tokens: float, squares: float, masked: float, whole: bool = False
) -> float:
    """Return the floating-point operations of the matrix products in an encoder's forward and backward pass.

    `tokens`: number of tokens in the batch; `squares`: sum of the squared sequence lengths; `masked`: number
    of predicted positions. In the last layer, only these positions are computed after attention. `whole`: all
    positions are computed, and each token is classified as replaced or not (ELECTRA's discriminator). The
    computation at [CLS], about a hundredth, is not counted.
    """
    hidden, layers, width = shape.hidden, shape.layers, shape.embedding
    seen = (layers - shape.local) * squares + shape.local * min(squares, tokens * (shape.window + 1))
    after = hidden**2 + (3 if shape.gated else 2) * hidden * shape.intermediate
    if whole:
        last = tokens * (after + hidden**2 + hidden)
    else:
        last = masked * (after + width * (hidden + shape.pieces))
    forward = tokens * width * hidden * shape.projected
    forward += layers * 3 * tokens * hidden**2 + 2 * seen * hidden + (layers - 1) * tokens * after + last
    # A product and a sum, and twice as many for the gradients of weights and inputs.
    return float(2 * 3 * forward)


def parameters(shape: NetworkShape) -> int:
    """Return the number of weights of an encoder and its embeddings, without biases, positions and heads
    (about a hundredth)."""
    layer = 4 * shape.hidden**2 + (3 if shape.gated else 2) * shape.hidden * shape.intermediate
    between = shape.embedding * shape.hidden * shape.projected
    return shape.pieces * shape.embedding + between + (1 if shape.shared else shape.layers) * layer


BASE = Architecture(family="bert", layers=12, hidden_size=768, attention_heads=12, intermediate_size=3072)
LARGE = Architecture(family="bert", layers=24, hidden_size=1024, attention_heads=16, intermediate_size=4096)
XXLARGE = Architecture(
    family="albert",
    layers=12,
    hidden_size=4096,
    attention_heads=64,
    intermediate_size=16384,
    embedding_size=128,
)
"""ALBERT's."""
SIZES: Mapping[str, Architecture] = {"base": BASE, "large": LARGE, "xxlarge": XXLARGE}
"""`size` in a model's spec -> architecture."""
