"""Cost of a step of a recipe and of its objective, without torch, as planning needs it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pubmill.optimisers import OPTIMISERS
from pubmill.optimisers.newton_schulz import orthogonal_operations
from pubmill.pretraining.arithmetic import NetworkShape, operations, shape_of
from pubmill.recipes import Architecture, Objective, PretrainingRecipe
from pubmill.recipes.objectives import PAIRS, kind_of


class Size(NamedTuple):
    """Tokens of a batch, the sum of the squared lengths of its sequences, and its masked positions."""

    tokens: float
    squares: float
    masked: float


def step_operations(
    objective: Objective, networks: Mapping[str, NetworkShape], size: Size, again: float = 1.0
) -> float:
    """Return the operations of a step.

    `networks`: `model`, `generator` and `teacher`, as the objective has them. `again`: factor for trained
    networks, 4/3 if activations are recomputed. A teacher has a forward pass only."""
    kind = kind_of(objective)
    size = size._replace(masked=size.tokens) if kind.predicts_all else size
    trained = sum(
        operations(networks[one.network], *size, whole=one.whole) * one.plain_steps for one in kind.passes
    )
    teacher = operations(networks["teacher"], *size) / 3 if "teacher" in networks else 0.0
    return trained * again + teacher


def operations_of_step(recipe: PretrainingRecipe, pieces: int, teacher: Architecture | None = None) -> float:
    """Return the operations of one step over full sequences. Recomputed activations cost one more forward
    pass."""
    tokens = float(recipe.batch_size * recipe.sequence_length)
    size = Size(tokens, tokens * recipe.sequence_length, tokens * share_predicted(recipe))
    return operations_of_batch(recipe, pieces, size, teacher)


def operations_of_batch(
    recipe: PretrainingRecipe, pieces: int, size: Size, teacher: Architecture | None = None
) -> float:
    """Return the operations of one step over a batch of this size."""
    shape, objective = shape_of(recipe.architecture, pieces), recipe.objective
    networks = {"model": shape, **_networks_beside(objective, shape)}
    if teacher:
        networks["teacher"] = shape_of(teacher, pieces)
    step = step_operations(objective, networks, size, 4 / 3 if recipe.recompute_activations else 1.0)
    if not OPTIMISERS[recipe.optimisation.optimiser].matrices:
        return step
    return step + update_operations(shape, labelled=objective.pairs in PAIRS)


def update_operations(shape: NetworkShape, labelled: bool) -> float:
    """Return the operations of Muon's update of the layers and the head's matrix, and of the pooler and the
    head of labelled pairs."""
    hidden, inner = shape.hidden, shape.intermediate
    attention = [(3 * hidden, hidden), (hidden, hidden)] if shape.gated else [(hidden, hidden)] * 4
    layer = sum(orthogonal_operations(*sizes) for sizes in attention)
    layer += orthogonal_operations(inner * (2 if shape.gated else 1), hidden) + orthogonal_operations(
        hidden, inner
    )
    layers = (1 if shape.shared else shape.layers) * layer
    pairs = orthogonal_operations(hidden, hidden) + orthogonal_operations(2, hidden)
    return float(layers + orthogonal_operations(hidden, hidden) + (pairs if labelled else 0))


def _networks_beside(objective: Objective, shape: NetworkShape) -> dict[str, NetworkShape]:
    """Return the networks that are trained beside a model of a shape; they have its embeddings."""
    networks: dict[str, NetworkShape] = {}
    for name, sizes in kind_of(objective).networks().items():
        changes: dict[str, Any] = {"projected": shape.embedding != sizes["hidden"], **sizes}
        networks[name] = replace(shape, **changes)
    return networks


def share_predicted(recipe: PretrainingRecipe) -> float:
    """Return the mean share of predicted tokens."""
    first, last = recipe.objective.masking_rate, recipe.objective.final_masking_rate
    rate = first if last is None else (first + last) / 2
    ahead = kind_of(recipe.objective).causal_sequences(recipe.batch_size) / recipe.batch_size
    return ahead + (1 - ahead) * rate
