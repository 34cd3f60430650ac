"""Cost of a recipe's step, without torch, as planning needs it."""

from pubmill.pretraining.arithmetic import shape_of
from pubmill.pretraining.objectives import Size, kind_of, step_operations
from pubmill.recipes import Architecture, PretrainingRecipe


def operations_of_step(recipe: PretrainingRecipe, pieces: int, teacher: Architecture | None = None) -> float:
    """Return the operations of one step over full sequences. Recomputed activations cost one more forward
    pass."""
    tokens = float(recipe.batch_size * recipe.sequence_length)
    size = Size(tokens, tokens * recipe.sequence_length, tokens * _masking_rate(recipe))
    shape, objective = shape_of(recipe.architecture, pieces), recipe.objective
    networks = {"model": shape, **kind_of(objective).beside(objective, shape)}
    if teacher:
        networks["teacher"] = shape_of(teacher, pieces)
    return step_operations(objective, networks, size, 4 / 3 if recipe.recompute_activations else 1.0)


def _masking_rate(recipe: PretrainingRecipe) -> float:
    """Return the mean share of masked tokens."""
    first, last = recipe.objective.masking_rate, recipe.objective.final_masking_rate
    return first if last is None else (first + last) / 2
