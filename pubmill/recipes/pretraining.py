"""Pretraining recipes."""

from dataclasses import dataclass, field, is_dataclass
from typing import Literal, get_args, get_type_hints

from pubmill.optimisers import OPTIMISERS
from pubmill.recipes.recipe_types import FORBID_UNKNOWN, OMIT_DEFAULT, Precision

Family = Literal["bert", "roberta", "electra", "albert", "megatron-bert"]


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The architecture of an encoder.

    `family`: `bert` (Devlin et al. 2019), `roberta` (Liu et al. 2019), `electra` (Clark et al. 2020),
    `albert` (Lan et al. 2020: all layers share their weights) or `megatron-bert` (Shoeybi et al. 2019: layer
    normalisation before each sublayer). `embedding_size`: size of the embeddings if it differs from
    `hidden_size` (ELECTRA, ALBERT). `scaled_initialisation`: the initial weights before each residual
    addition are divided by sqrt(2 x layers) (Shoeybi et al. 2019; megatron-bert).
    """

    __pydantic_config__ = FORBID_UNKNOWN

    family: Family
    layers: int
    hidden_size: int
    attention_heads: int
    intermediate_size: int
    embedding_size: int | None = None
    max_positions: int = 512
    dropout: float = 0.1
    initializer_range: float = 0.02
    scaled_initialisation: bool = field(default=False, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, kw_only=True)
class Generator:
    """ELECTRA's generator: the discriminator's architecture with these sizes; the two share embeddings (Clark
    et al. 2020, section 3.2). `weight`: weight of the discriminator's loss relative to the generator's."""

    __pydantic_config__ = FORBID_UNKNOWN

    hidden_size: int
    attention_heads: int
    intermediate_size: int
    weight: float = 50.0


@dataclass(frozen=True, kw_only=True)
class Adversarial:
    """Virtual adversarial training on the embeddings (Miyato et al. 2018; Liu et al. 2020, ALUM; gu2020
    section 2.4).

    The embeddings are perturbed in the direction in which the predictions change most: the gradient of the
    divergence at noise of standard deviation `noise`, scaled so that each token's largest entry is `radius`.
    `weight` times the symmetric divergence at that point is added to the loss. The weight is ALUM's in
    pretraining; the sizes are not: its paper prints a radius and noise of 1e-5, which bfloat16 cannot
    resolve, and its program perturbs each token by a vector with largest entry 1, which is noise rather than
    the gradient.
    """

    __pydantic_config__ = FORBID_UNKNOWN

    weight: float = 10.0
    noise: float = 1e-2
    radius: float = 1e-2


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """Distillation: learning also from a larger model's predictions (lewis2020 section 7.1).

    `masked_lm`, `divergence`, `cosine`: weights of the masked-language-model loss, of the Kullback-Leibler
    divergence from the teacher's predictions at `temperature`, and of the cosine distance between the last
    layers' vectors, where a learnt projection is applied to the student's (0 turns the term off).
    `positions`: divergence and cosine are means over the masked positions, or over all tokens (DistilBERT).
    """

    __pydantic_config__ = FORBID_UNKNOWN

    masked_lm: float = 5.0
    divergence: float = 2.0
    cosine: float = 1.0
    temperature: float = 2.0
    positions: Literal["masked", "all"] = field(default="masked", metadata=OMIT_DEFAULT)


@dataclass(frozen=True, kw_only=True)
class Objective:
    """The pretraining objective: masked-token prediction and optional additional terms.

    - `masking`: whole words, subwords, or runs of up to `longest_ngram` words (ALBERT), at `masking_rate`. If
      `final_masking_rate` is given, the rate changes linearly to it (gu2020 section 2.3). `replaced_by_mask`
      and `replaced_at_random` are the shares of the chosen tokens that are replaced; the others stay.
    - `sequences`: each from one document (`document`), or filled with whole sentences across documents, with
      a separator between documents (`full`; Liu et al. 2019, section 4.2).
    - `pairs`: a sequence has two segments, and the model predicts whether the second follows the first or
      comes from another document (`next-sentence`, BERT), or which of them came first (`sentence-order`,
      ALBERT, Megatron); two segments without a prediction (`unlabelled`, tinn2021 section 2.1); or one
      segment (`none`).
    - `generator`: replaced-token detection (ELECTRA). `adversarial`, `distillation`: see these classes;
      at most one of the three.
    """

    __pydantic_config__ = FORBID_UNKNOWN

    masking: Literal["whole-word", "subword", "n-gram"]
    masking_rate: float = 0.15
    final_masking_rate: float | None = None
    longest_ngram: int = 3
    replaced_by_mask: float = 0.8
    replaced_at_random: float = 0.1
    sequences: Literal["document", "full"] = "document"
    pairs: Literal["next-sentence", "sentence-order", "unlabelled", "none"] = "next-sentence"
    generator: Generator | None = None
    adversarial: Adversarial | None = None
    distillation: Distillation | None = None


EXTRAS = tuple(
    name for name, kind in get_type_hints(Objective).items() if any(map(is_dataclass, get_args(kind)))
)
"""Fields of `Objective` that ask for another objective than masked-token prediction."""


@dataclass(frozen=True, kw_only=True)
class Optimisation:
    """An optimiser from `pubmill.optimisers` and its settings. The learning rate rises linearly over the
    first `warmup` share of the steps, then falls linearly."""

    __pydantic_config__ = FORBID_UNKNOWN

    optimiser: str = "adamw"
    learning_rate: float
    warmup: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    weight_decay: float = 0.01
    max_gradient_norm: float = 1.0

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise ValueError(f"unknown optimiser {self.optimiser!r}; expected one of {', '.join(OPTIMISERS)}")


@dataclass(frozen=True, kw_only=True)
class PretrainingRecipe:
    """One pretraining: `steps` updates on batches of `batch_size` sequences of `sequence_length` tokens.

    `recompute_activations` (activation checkpointing) and `shard_optimiser` (the optimiser's state is spread
    over the processes) save memory and do not affect the result, so they can be switched between restarts.
    """

    __pydantic_config__ = FORBID_UNKNOWN

    architecture: Architecture
    objective: Objective
    optimisation: Optimisation
    sequence_length: int
    batch_size: int
    steps: int
    seed: int = 1
    precision: Precision = "auto"
    recompute_activations: bool = False
    shard_optimiser: bool = False

    def __post_init__(self) -> None:
        faults = [*_contradictions(self.architecture, self.objective), *_out_of_range(self)]
        if faults:
            raise ValueError("; ".join(faults))


@dataclass(frozen=True, kw_only=True)
class PackingRecipe:
    """Options that determine the packed tokens besides corpus, vocabulary and Punkt: whether titles are
    included, and the share of documents that are held out."""

    title: bool = False
    held_out: float = 0.005


MEMORY_ONLY = ("recompute_activations", "shard_optimiser")
"""Keys of a PretrainingRecipe that affect memory only, not the result."""


def _contradictions(architecture: Architecture, objective: Objective) -> list[str]:
    """Report settings that contradict each other or that the family does not support."""
    family, extras = architecture.family, [getattr(objective, name) for name in EXTRAS]
    wrong = {
        "family electra needs objective.generator, and only it has one": (family == "electra")
        != (objective.generator is not None),
        f"only one of {', '.join(EXTRAS[:-1])} and {EXTRAS[-1]} is allowed": sum(map(bool, extras)) > 1,
        "family roberta has one segment; it needs pairs: none": family == "roberta"
        and objective.pairs != "none",
        "family electra has no head for pairs; pairs can be unlabelled or none": family == "electra"
        and objective.pairs not in ("unlabelled", "none"),
        "family albert has no next-sentence head; pairs can be sentence-order": family == "albert"
        and objective.pairs == "next-sentence",
        "scaled_initialisation is for megatron-bert": architecture.scaled_initialisation
        and family != "megatron-bert",
        "sequences full needs pairs: none": objective.sequences == "full" and objective.pairs != "none",
        f"embedding_size is for electra and albert, not for {family}": architecture.embedding_size is not None
        and family not in ("electra", "albert"),
        f"hidden_size {architecture.hidden_size} is not a multiple of attention_heads "
        f"{architecture.attention_heads}": architecture.hidden_size % max(1, architecture.attention_heads)
        > 0,
        "replaced_by_mask and replaced_at_random are shares, together at most 1": not 0
        <= objective.replaced_by_mask
        <= objective.replaced_by_mask + objective.replaced_at_random
        <= 1,
    }
    return [fault for fault, present in wrong.items() if present]


def _out_of_range(recipe: PretrainingRecipe) -> list[str]:
    """Report numbers outside their valid range."""
    architecture, objective = recipe.architecture, recipe.objective
    counts = {
        **{name: getattr(architecture, name) for name in ("layers", "hidden_size", "attention_heads")},
        **{name: getattr(recipe, name) for name in ("sequence_length", "batch_size", "steps")},
        "learning_rate": recipe.optimisation.learning_rate,
        "longest_ngram": objective.longest_ngram,
    }
    shares = {"masking_rate": objective.masking_rate, "final_masking_rate": objective.final_masking_rate}
    return [
        *(f"{name} must be above 0, found {value}" for name, value in counts.items() if value <= 0),
        *(
            f"{name} must be between 0 and 1, found {value}"
            for name, value in shares.items()
            if value is not None and not 0 < value < 1
        ),
        *(
            [f"sequence_length {recipe.sequence_length} exceeds max_positions {architecture.max_positions}"]
            if recipe.sequence_length > architecture.max_positions
            else []
        ),
    ]
