"""Sizes of encoders, operations of a pass and of a recipe's step, without torch, as planning needs them.

Model FLOPs utilisation (Chowdhery et al. 2022, appendix B) counts the operations of the model, without
padding and recomputation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pubmill.optimisers import OPTIMISERS, orthogonal_operations
from pubmill.recipes import Architecture, Objective, PretrainingRecipe
from pubmill.recipes.objectives import PAIRS, kind_of

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
"""ALBERT-xxlarge."""
SIZES: Mapping[str, Architecture] = {"base": BASE, "large": LARGE, "xxlarge": XXLARGE}
"""`size` in a model's spec -> architecture."""


@dataclass(frozen=True)
class NetworkShape:
    """Sizes of an encoder. `embedding`: width of the embeddings; `projected`: whether they are projected to
    `hidden`; `pieces`: vocabulary size; `shared`: whether all layers share weights; `gated`: whether
    feed-forward layers have gates; `local`: number of layers with attention within `window` tokens."""

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


def shape_of_network(model: Any) -> NetworkShape:
    """Return the sizes of a transformers model."""
    config, gated = model.config, model.config.model_type == "modernbert"
    width = getattr(config, "embedding_size", config.hidden_size)
    return NetworkShape(
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        intermediate=config.intermediate_size,
        embedding=width,
        projected=width != config.hidden_size or config.model_type == "albert",
        pieces=config.vocab_size,
        gated=gated,
        local=config.layer_types.count("sliding_attention") if gated else 0,
        window=config.local_attention if gated else 0,
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
    """Return the weights of an encoder and its embeddings, without biases, positions, heads (a hundredth)."""
    layer = 4 * shape.hidden**2 + (3 if shape.gated else 2) * shape.hidden * shape.intermediate
    between = shape.embedding * shape.hidden * shape.projected
    return shape.pieces * shape.embedding + between + (1 if shape.shared else shape.layers) * layer


class Size(NamedTuple):
    """Tokens of a batch, the sum of the squared lengths of its sequences, and its masked positions."""

    tokens: float
    squares: float
    masked: float


def step_operations(
    objective: Objective, networks: Mapping[str, NetworkShape], size: Size, again: float = 1.0
) -> float:
    """Return the operations of a step. `networks`: `model`, `generator` and `teacher`, as the objective has
    them. `again`: factor for trained ones, 4/3 if activations are recomputed. A teacher has no backward
    pass."""
    kind = kind_of(objective)
    size = size._replace(masked=size.tokens) if kind.predicts_all else size
    trained = sum(
        operations(networks[one.network], *size, whole=one.whole) * one.plain_steps for one in kind.passes
    )
    teacher = operations(networks["teacher"], *size) / 3 if "teacher" in networks else 0.0
    return trained * again + teacher


def operations_of_step(recipe: PretrainingRecipe, pieces: int, teacher: Architecture | None = None) -> float:
    """Return the operations of a step over full sequences; recomputing activations costs a forward pass."""
    tokens = float(recipe.batch_size * recipe.sequence_length)
    size = Size(tokens, tokens * recipe.sequence_length, tokens * share_predicted(recipe))
    return operations_of_batch(recipe, pieces, size, teacher)


def operations_of_batch(
    recipe: PretrainingRecipe, pieces: int, size: Size, teacher: Architecture | None = None
) -> float:
    """Return the operations of one step over a batch of this size."""
    shape, objective = shape_of(recipe.architecture, pieces), recipe.objective
    networks = {"model": shape}
    for name, sizes in kind_of(objective).networks().items():  # They have the model's embeddings.
        changes: dict[str, Any] = {"projected": shape.embedding != sizes["hidden"], **sizes}
        networks[name] = replace(shape, **changes)
    if teacher:
        networks["teacher"] = shape_of(teacher, pieces)
    step = step_operations(objective, networks, size, 4 / 3 if recipe.recompute_activations else 1.0)
    if not OPTIMISERS[recipe.optimisation.optimiser].matrices:
        return step
    return step + update_operations(shape, labelled=objective.pairs in PAIRS)


def update_operations(shape: NetworkShape, labelled: bool) -> float:
    """Return the operations of Muon's update: of the layers and the masked-LM head's matrix and, if pairs are
    `labelled`, of the pooler and the pair head."""
    hidden, inner = shape.hidden, shape.intermediate
    attention = [(3 * hidden, hidden), (hidden, hidden)] if shape.gated else [(hidden, hidden)] * 4
    others = [(inner * (2 if shape.gated else 1), hidden), (hidden, inner)]
    layer = sum(orthogonal_operations(*sizes) for sizes in attention + others)
    layers = (1 if shape.shared else shape.layers) * layer
    pairs = orthogonal_operations(hidden, hidden) + orthogonal_operations(2, hidden)
    return float(layers + orthogonal_operations(hidden, hidden) + (pairs if labelled else 0))


def share_predicted(recipe: PretrainingRecipe) -> float:
    """Return the mean share of predicted tokens."""
    first, last = recipe.objective.masking_rate, recipe.objective.final_masking_rate
    rate = first if last is None else (first + last) / 2
    ahead = kind_of(recipe.objective).causal_sequences(recipe.batch_size) / recipe.batch_size
    return ahead + (1 - ahead) * rate
