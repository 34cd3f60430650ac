"""Pretraining objectives: the settings, loss terms, networks and cost of each. Loads no torch.

An `ObjectiveKind` is an objective. Each has a field in `Objective` with its settings, except masked language
modelling, which is the objective of a recipe without such a field.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, get_args, get_type_hints

from pydantic import Field

from pubmill.recipes.recipe_types import Positive, StrictRecipe

PAIRS = {"next-sentence": "nsp", "sentence-order": "sop"}
"""Kind of pairs with labels, which need a head -> the name of their loss term."""
Per = Literal["masked", "pairs", "tokens", "causal"]
MaskingRate = Annotated[float, Field(gt=0, lt=1)]


@dataclass(frozen=True, slots=True)
class Term:
    """A loss: the mean over the masked tokens, the labelled pairs, all tokens or the next tokens, times
    `weight`. `chooses`: its answers are right or wrong, so that their accuracy is logged."""

    name: str
    weight: float
    per: Per
    chooses: bool = False


class Pass(NamedTuple):
    """A network's cost per step, in plain steps (one pass forward and back). `whole`: its last layer computes
    all tokens, not only the masked ones."""

    network: str
    plain_steps: float = 1.0
    whole: bool = False


class ObjectiveKind(StrictRecipe):
    """Masked language modelling, with or without pairs (Devlin et al. 2019; Lan et al. 2020), and the base of
    all other objectives.

    - `learner`: the class that computes the losses (`module:class`), a
      `pubmill.pretraining.learners.Learner`.
    - `passes`: the networks that are trained and their cost; `model` is the exported one.
    - `adds_weights`: checkpoints hold weights of the objective's own, so that only the same objective resumes
      them.
    - `in_bfloat16`: all activations may be in bfloat16, as the fastest methods need.
    """

    learner: ClassVar[str] = "pubmill.pretraining.learners:Learner"
    passes: ClassVar[tuple[Pass, ...]] = (Pass("model"),)
    adds_weights: ClassVar[bool] = False
    in_bfloat16: ClassVar[bool] = True

    def terms(self, pairs: tuple[Term, ...]) -> tuple[Term, ...]:
        """Return the losses; `pairs`: those of labelled pairs. Training counts as diverged if the first loss
        rises too far."""
        return Term("mlm", 1.0, "masked", chooses=True), *pairs

    def networks(self) -> Mapping[str, Mapping[str, int]]:
        """Return the networks trained beside the model -> their sizes that differ from the model's, named as
        in `pubmill.pretraining.arithmetic.NetworkShape`."""
        return {}

    @property
    def predicts_all(self) -> bool:
        """Whether words are predicted at all tokens, not only at the masked ones."""
        return False

    def causal_sequences(self, count: int) -> int:
        """Return how many of a batch's sequences, its first, are read from left to right."""
        return 0


MASKED_LM = ObjectiveKind()


class Generator(ObjectiveKind):
    """ELECTRA's generator: the discriminator's architecture with these sizes; the two share embeddings (Clark
    et al. 2020, section 3.2). `weight`: weight of the discriminator's loss relative to the generator's.

    - `hidden_size`: width of its encodings.
    - `attention_heads`: heads in each of its layers.
    - `intermediate_size`: width of its feed-forward layers.
    """

    hidden_size: int
    attention_heads: int
    intermediate_size: int
    weight: float = 50.0

    learner = "pubmill.pretraining.learners:ReplacedTokenDetection"
    passes = Pass("model", whole=True), Pass("generator")
    adds_weights = True

    def terms(self, pairs: tuple[Term, ...]) -> tuple[Term, ...]:
        detection = Term("rtd", self.weight, "tokens", chooses=True)
        return Term("mlm", 1.0, "masked", chooses=True), detection

    def networks(self) -> Mapping[str, Mapping[str, int]]:
        return {"generator": {"hidden": self.hidden_size, "intermediate": self.intermediate_size}}


ADVERSARIAL = 8 / 3
"""Cost of an adversarial step, in plain steps of 3 forward passes (a backward pass costs as much as two). It
costs 8: three forward passes (on the text, with random noise, with the perturbation), 1 for the gradient of
the noise alone, and 2 x 2 for the backward pass of the loss through two of the forward passes."""


class Adversarial(ObjectiveKind):
    """Virtual adversarial training on the embeddings (Miyato et al. 2018; Liu et al. 2020, ALUM; gu2020
    section 2.4).

    The embeddings are perturbed in the direction in which the predictions change most: the gradient of the
    divergence at noise of standard deviation `noise`, scaled so that each token's largest entry is `radius`.
    `weight` times the symmetric divergence at that point is added to the loss. The weight is ALUM's in
    pretraining; the sizes are not: its paper prints a radius and noise of 1e-5, which bfloat16 cannot
    resolve, and its program perturbs each token by a vector with largest entry 1, which is noise rather than
    the gradient.

    - `weight`: of the divergence, relative to the other losses.
    - `noise`: standard deviation of the noise at which the gradient is taken.
    - `radius`: largest entry of a token's perturbation.
    """

    weight: float = 10.0
    noise: float = 1e-2
    radius: float = 1e-2

    learner = "pubmill.pretraining.learners:AdversarialLearner"
    passes = (Pass("model", ADVERSARIAL),)
    in_bfloat16 = False  # bfloat16 cannot resolve the noise

    def terms(self, pairs: tuple[Term, ...]) -> tuple[Term, ...]:
        return *super().terms(pairs), Term("adversarial", self.weight, "masked")


class Distillation(ObjectiveKind):
    """Distillation: learning also from a larger model's predictions (lewis2020 section 7.1).

    `masked_lm`, `divergence`, `cosine`: weights of the masked-language-model loss, of the Kullback-Leibler
    divergence from the teacher's predictions at `temperature`, and of the cosine distance between the last
    layers' vectors, where a learnt projection is applied to the student's (0 turns the term off).
    `positions`: divergence and cosine are means over the masked positions, or over all tokens (DistilBERT).

    - `temperature`: by which both models' scores are divided.
    """

    masked_lm: float = 5.0
    divergence: float = 2.0
    cosine: float = 1.0
    temperature: float = 2.0
    positions: Literal["masked", "all"] = "masked"

    learner = "pubmill.pretraining.learners:Distilled"
    adds_weights = True
    in_bfloat16 = False  # the teacher keeps its weights in float32

    def terms(self, pairs: tuple[Term, ...]) -> tuple[Term, ...]:
        mlm = Term("mlm", self.masked_lm, "masked", chooses=True)
        per: Per = "tokens" if self.predicts_all else "masked"
        terms = mlm, *pairs, Term("kl", self.divergence, per)
        return (*terms, Term("cosine", self.cosine, per)) if self.cosine else terms

    @property
    def predicts_all(self) -> bool:
        return self.positions == "all"


class Causal(ObjectiveKind):
    """Prediction of the next token, from left to right, alone or beside masked tokens in each step
    (Charpentier and Samuel 2024, GPT-BERT). In the other sequences, a masked token is then predicted from the
    position before it, as the next token is. The loss is the mean of each kind, weighted by `share`.

    - `share`: share of a step's sequences that are read from left to right; 1: all.
    """

    share: Annotated[float, Field(gt=0, le=1)] = 1.0

    learner = "pubmill.pretraining.learners:CausalLearner"

    def terms(self, pairs: tuple[Term, ...]) -> tuple[Term, ...]:
        ahead = Term("clm", self.share, "causal", chooses=True)
        masked = Term("mlm", 1 - self.share, "masked", chooses=True)
        return (ahead,) if self.predicts_all else (masked, ahead)

    @property
    def predicts_all(self) -> bool:
        return self.share == 1

    def causal_sequences(self, count: int) -> int:
        """Return `count` if `share` is 1, else the rounded share, at least 1 and at most `count` - 1."""
        return count if self.predicts_all else min(max(1, round(self.share * count)), count - 1)


class Objective(StrictRecipe):
    """The pretraining objective: masked-token prediction and optional additional terms.

    - `masking`: whole words, subwords, or runs of up to `longest_ngram` words (ALBERT), at `masking_rate` of
      each sequence without its special tokens; or `independent`: each token is chosen with that probability,
      [CLS] and [SEP] too, whatever happens to the others (the program of Warner et al. 2024, ModernBERT). If
      `final_masking_rate` is given, the rate changes linearly to it (gu2020 section 2.3). `replaced_by_mask`
      and `replaced_at_random` are the shares of the chosen tokens that are replaced; the others stay.
    - `sequences`: each from one document (`document`), or filled with whole sentences across documents, with
      a separator between documents (`full`; Liu et al. 2019, section 4.2).
    - `pairs`: a sequence has two segments, and the model predicts whether the second follows the first or
      comes from another document (`next-sentence`, BERT), or which of them came first (`sentence-order`,
      ALBERT, Megatron); two segments without a prediction (`unlabelled`, tinn2021 section 2.1); or one
      segment (`none`).
    - `generator`: replaced-token detection (ELECTRA); `adversarial`: also a loss at perturbed embeddings;
      `distillation`: also a teacher's predictions; `causal`: the next token. At most one of these.
    - `masking_rate`: share of the tokens that are chosen.
    - `longest_ngram`: words in the longest masked run.
    - `final_masking_rate`: the masking rate at the last step; null: it stays the same.
    - `replaced_by_mask`: share of the chosen tokens that become [MASK].
    - `replaced_at_random`: share of the chosen tokens that become another token.
    """

    masking: Literal["whole-word", "subword", "n-gram", "independent"]
    masking_rate: MaskingRate = 0.15
    final_masking_rate: MaskingRate | None = None
    longest_ngram: Positive = 3
    replaced_by_mask: float = 0.8
    replaced_at_random: float = 0.1
    sequences: Literal["document", "full"] = "document"
    pairs: Literal["next-sentence", "sentence-order", "unlabelled", "none"] = "next-sentence"
    generator: Generator | None = None
    adversarial: Adversarial | None = None
    distillation: Distillation | None = None
    causal: Causal | None = None


OBJECTIVES: Mapping[str, type[ObjectiveKind]] = {
    name: kind
    for name, type_ in get_type_hints(Objective).items()
    for kind in get_args(type_)
    if isinstance(kind, type) and issubclass(kind, ObjectiveKind)
}
"""Field of `Objective` -> the kind of objective that it asks for."""


def kind_of(objective: Objective) -> ObjectiveKind:
    """Return the kind of a recipe's objective, with its settings."""
    asked: list[ObjectiveKind | None] = [getattr(objective, field) for field in OBJECTIVES]
    return next(filter(None, asked), MASKED_LM)


def terms_of(objective: Objective) -> tuple[Term, ...]:
    """Return the losses of a recipe's objective."""
    name = PAIRS.get(objective.pairs)
    return kind_of(objective).terms((Term(name, 1.0, "pairs", chooses=True),) if name else ())
