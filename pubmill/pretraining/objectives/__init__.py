"""The registry of pretraining objectives: loss terms, cost and learner of each. It loads no torch.

A field of `pubmill.recipes.Objective` asks for an objective, and a recipe has at most one such field; without
any it is masked language modelling. Its learner is a `pubmill.pretraining.objectives.learner.Learner`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from pubmill.pretraining.arithmetic import NetworkShape, operations
from pubmill.recipes import Objective

Per = Literal["masked", "pairs", "tokens"]
PAIRS = {"next-sentence": "nsp", "sentence-order": "sop"}
"""Kinds of pairs that have labels, and so a head -> the term of their loss."""


@dataclass(frozen=True, slots=True)
class Term:
    """A loss: the mean over the masked tokens, the labelled pairs or all tokens, times `weight`. `chooses`:
    its answers are right or wrong, so that their accuracy is logged."""

    name: str
    weight: float
    per: Per
    chooses: bool = False


class Size(NamedTuple):
    """Tokens of a batch, the sum of the squared lengths of its sequences, and its masked positions."""

    tokens: float
    squares: float
    masked: float


Networks = Mapping[str, NetworkShape]
"""`model`, and what the objective trains or asks beside it (`generator`, `teacher`) -> its shape."""


def pair_terms(objective: Objective) -> tuple[Term, ...]:
    """The loss of the pairs, where they have labels."""
    name = PAIRS.get(objective.pairs)
    return (Term(name, 1.0, "pairs", chooses=True),) if name else ()


def masked_lm_terms(objective: Objective) -> tuple[Term, ...]:
    """The loss of the masked tokens, then that of the pairs."""
    return Term("mlm", 1.0, "masked", chooses=True), *pair_terms(objective)


def masked_lm_operations(networks: Networks, size: Size) -> float:
    """One pass forward and back."""
    return operations(networks["model"], *size)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveKind:
    """An objective. `learner`: the class that computes its losses (`module:class`).

    `terms`: its losses; a training whose first one rises too far has diverged. `operations`: those of a step
    of what is trained. `beside`: shapes of the networks that are trained beside a model of a shape.
    `adds_weights`: checkpoints hold weights of its own, so that only the same objective continues them.
    """

    learner: str
    terms: Callable[[Objective], tuple[Term, ...]] = masked_lm_terms
    operations: Callable[[Networks, Size], float] = masked_lm_operations
    beside: Callable[[Objective, NetworkShape], Networks] = lambda objective, shape: {}
    adds_weights: bool = False


MASKED_LM = ObjectiveKind(learner="pubmill.pretraining.objectives.learner:Learner")
"""Masked language modelling, with or without pairs (Devlin et al. 2019; Lan et al. 2020)."""


def _replaced_tokens_terms(objective: Objective) -> tuple[Term, ...]:
    assert objective.generator is not None
    found = Term("rtd", objective.generator.weight, "tokens", chooses=True)
    return Term("mlm", 1.0, "masked", chooses=True), found


def _replaced_tokens_operations(networks: Networks, size: Size) -> float:
    return operations(networks["model"], *size, whole=True) + operations(networks["generator"], *size)


def _generator_networks(objective: Objective, shape: NetworkShape) -> Networks:
    """ELECTRA's generator, which has the discriminator's embeddings."""
    assert objective.generator is not None
    hidden, between = objective.generator.hidden_size, objective.generator.intermediate_size
    projected = shape.embedding != hidden
    return {"generator": replace(shape, hidden=hidden, intermediate=between, projected=projected)}


def _adversarial_terms(objective: Objective) -> tuple[Term, ...]:
    assert objective.adversarial is not None
    return *masked_lm_terms(objective), Term("adversarial", objective.adversarial.weight, "masked")


ADVERSARIAL = 8 / 3
"""An adversarial step over a plain one, which goes once forward and, worth two of that, once back. It goes
forward on the text, with noise, and with the noise that was found; back to the noise alone, which is worth
one, and from the loss through two of the passes."""


def _adversarial_operations(networks: Networks, size: Size) -> float:
    return masked_lm_operations(networks, size) * ADVERSARIAL


def _distillation_terms(objective: Objective) -> tuple[Term, ...]:
    wanted = objective.distillation
    assert wanted is not None
    mlm = Term("mlm", wanted.masked_lm, "masked", chooses=True)
    per: Per = "tokens" if wanted.positions == "all" else "masked"
    terms = mlm, *pair_terms(objective), Term("kl", wanted.divergence, per)
    return (*terms, Term("cosine", wanted.cosine, per)) if wanted.cosine else terms


OBJECTIVES: dict[str, ObjectiveKind] = {
    "generator": ObjectiveKind(
        learner="pubmill.pretraining.objectives.replaced_tokens:ReplacedTokenDetection",
        terms=_replaced_tokens_terms,
        operations=_replaced_tokens_operations,
        beside=_generator_networks,
        adds_weights=True,
    ),
    "adversarial": ObjectiveKind(
        learner="pubmill.pretraining.objectives.adversarial:AdversarialLearner",
        terms=_adversarial_terms,
        operations=_adversarial_operations,
    ),
    "distillation": ObjectiveKind(
        learner="pubmill.pretraining.objectives.distillation:Distilled",
        terms=_distillation_terms,
        adds_weights=True,
    ),
}
"""Field of `Objective` -> the objective that it asks for."""


def kind_of(objective: Objective) -> ObjectiveKind:
    """The kind of a recipe's objective."""
    asked = (kind for field, kind in OBJECTIVES.items() if getattr(objective, field) is not None)
    return next(asked, MASKED_LM)


def step_operations(objective: Objective, networks: Networks, size: Size, again: float = 1.0) -> float:
    """Operations of a step. What is trained does its plain operations `again` times (4/3 where activations
    are recomputed); a teacher goes forward only. Distillation at all positions predicts all tokens."""
    if objective.distillation and objective.distillation.positions == "all":
        size = size._replace(masked=size.tokens)
    trained = kind_of(objective).operations(networks, size) * again
    return trained + (operations(networks["teacher"], *size) / 3 if "teacher" in networks else 0.0)
