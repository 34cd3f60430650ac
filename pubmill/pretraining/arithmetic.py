"""The arithmetic of encoders, from their sizes alone: it plans a training without torch."""

from dataclasses import dataclass, replace

from pubmill.recipes import Architecture, Generator, PretrainingRecipe


@dataclass(frozen=True)
class Shape:
    """The sizes of an encoder. `embedding`: width of the embeddings; `projected`: whether a product brings
    them to `hidden`; `pieces`: of the vocabulary; `shared`: whether all layers have the same weights."""

    layers: int
    hidden: int
    intermediate: int
    embedding: int
    projected: bool
    pieces: int
    shared: bool = False


def shape_of(architecture: Architecture, pieces: int) -> Shape:
    """The shape of a recipe's encoder."""
    width = architecture.embedding_size or architecture.hidden_size
    return Shape(
        layers=architecture.layers,
        hidden=architecture.hidden_size,
        intermediate=architecture.intermediate_size,
        embedding=width,
        projected=width != architecture.hidden_size or architecture.family == "albert",
        pieces=pieces,
        shared=architecture.family == "albert",
    )


def operations(shape: Shape, tokens: float, squares: float, masked: float, whole: bool = False) -> float:
    """Floating-point operations of the matrix products of an encoder's forward and backward pass.

    `tokens` are those of the batch, `squares` is the sum of the squared lengths of its sequences, `masked`
    the positions at which the vocabulary is predicted; elsewhere the last layer ends with its attention.
    `whole`: it ends nowhere, and each token is told to be replaced or not (ELECTRA's discriminator). What is
    done at [CLS] is left out, about a hundredth.
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


def parameters(shape: Shape) -> int:
    """Weights of an encoder and its embeddings, without biases, positions and heads: about a hundredth."""
    layer = 4 * shape.hidden**2 + 2 * shape.hidden * shape.intermediate
    between = shape.embedding * shape.hidden * shape.projected
    return shape.pieces * shape.embedding + between + (1 if shape.shared else shape.layers) * layer


def operations_of_step(recipe: PretrainingRecipe, pieces: int, teacher: Architecture | None = None) -> float:
    """Operations of one step over full sequences.

    ELECTRA has two networks; a distillation's teacher goes forward only. Recomputed activations are a
    forward pass more.
    """
    tokens = float(recipe.batch_size * recipe.sequence_length)
    size = tokens, tokens * recipe.sequence_length, tokens * _masking_rate(recipe)
    shape, objective = shape_of(recipe.architecture, pieces), recipe.objective
    done = operations(shape, *size, whole=objective.generator is not None)
    if objective.generator:
        done += operations(_generator(shape, objective.generator), *size)
    if objective.adversarial:
        done *= ADVERSARIAL
    if recipe.recompute_activations:
        done *= 4 / 3
    return done + (operations(shape_of(teacher, pieces), *size) / 3 if teacher else 0)


ADVERSARIAL = 8 / 3
"""An adversarial step over a plain one, which goes once forward and, worth two of that, once back. It goes
forward on the text, with noise, and with the noise that was found; back to the noise alone, which is worth
one, and from the loss through two of the passes."""


def _generator(shape: Shape, generator: Generator) -> Shape:
    """The shape of ELECTRA's generator, which has the discriminator's embeddings."""
    hidden = generator.hidden_size
    return replace(
        shape,
        hidden=hidden,
        intermediate=generator.intermediate_size,
        projected=shape.embedding != hidden,
    )


def _masking_rate(recipe: PretrainingRecipe) -> float:
    """The mean share of masked tokens."""
    first, last = recipe.objective.masking_rate, recipe.objective.final_masking_rate
    return first if last is None else (first + last) / 2
