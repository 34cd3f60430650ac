"""The arithmetic of encoders, from their sizes alone: it plans a training without torch."""

from dataclasses import dataclass

from pubmill.recipes import Architecture


@dataclass(frozen=True)
class NetworkShape:
    """The sizes of an encoder. `embedding`: width of the embeddings; `projected`: whether a product brings
    them to `hidden`; `pieces`: of the vocabulary; `shared`: whether all layers have the same weights."""

    layers: int
    hidden: int
    intermediate: int
    embedding: int
    projected: bool
    pieces: int
    shared: bool = False


def shape_of(architecture: Architecture, pieces: int) -> NetworkShape:
    """The shape of a recipe's encoder."""
    width = architecture.embedding_size or architecture.hidden_size
    return NetworkShape(
        layers=architecture.layers,
        hidden=architecture.hidden_size,
        intermediate=architecture.intermediate_size,
        embedding=width,
        projected=width != architecture.hidden_size or architecture.family == "albert",
        pieces=pieces,
        shared=architecture.family == "albert",
    )


def operations(
    shape: NetworkShape, tokens: float, squares: float, masked: float, whole: bool = False
) -> float:
    """Floating-point operations of the matrix products of an encoder's forward and backward pass.

    `tokens` are those of the batch, `squares` is the sum of the squared lengths of its sequences, `masked`
    the positions at which the vocabulary is predicted; elsewhere the last layer ends with its attention.
    `whole`: it ends nowhere, and each token is classified as replaced or not (ELECTRA's discriminator). What
    is done at [CLS] is left out, about a hundredth.
    """
    hidden, layers, width = shape.hidden, shape.layers, shape.embedding
    attended = 3 * tokens * hidden**2 + 2 * squares * hidden
    after = hidden**2 + 2 * hidden * shape.intermediate
    if whole:
        last = tokens * (after + hidden**2 + hidden)
    else:
        last = masked * (after + width * (hidden + shape.pieces))
    forward = tokens * width * hidden * shape.projected
    forward += layers * attended + (layers - 1) * tokens * after + last
    # a product and a sum; and twice as many for the gradients of weights and inputs
    return float(2 * 3 * forward)


def parameters(shape: NetworkShape) -> int:
    """Weights of an encoder and its embeddings, without biases, positions and heads: about a hundredth."""
    layer = 4 * shape.hidden**2 + 2 * shape.hidden * shape.intermediate
    between = shape.embedding * shape.hidden * shape.projected
    return shape.pieces * shape.embedding + between + (1 if shape.shared else shape.layers) * layer
