"""Pretraining recipes."""

from typing import Literal

from pubmill.optimisers import OPTIMISERS
from pubmill.recipes.objectives import OBJECTIVES, Objective
from pubmill.recipes.recipe_types import Positive, PositiveFloat, Precision, StrictRecipe

Family = Literal["bert", "roberta", "electra", "albert", "megatron-bert", "modernbert"]


class RotaryAttention(StrictRecipe):
    """Attention of ModernBERT, with rotary positions (Warner et al. 2024, section 2.1).

    - `global_every`: every so many layers, from the first on, attention is global; in the others it is local.
    - `window`: tokens that a position sees in local layers, half of them to each side, besides itself.
    - `global_base`: base of the rotary angles in global layers.
    - `local_base`: base of the rotary angles in local layers.
    """

    global_every: int = 3
    window: int = 128
    global_base: float = 160_000.0
    local_base: float = 10_000.0

    def local_layers(self, layers: int) -> int:
        """Return how many of so many layers are local."""
        return layers - -(-layers // self.global_every)


ROTARY = RotaryAttention()


class Architecture(StrictRecipe):
    """The architecture of an encoder.

    `family`: `bert` (Devlin et al. 2019), `roberta` (Liu et al. 2019), `electra` (Clark et al. 2020),
    `albert` (Lan et al. 2020: all layers share their weights), `megatron-bert` (Shoeybi et al. 2019: layer
    normalisation before each sublayer) or `modernbert` (Warner et al. 2024: rotary positions, local and
    global attention, gated feed-forward layers of this `intermediate_size`, no biases). `embedding_size`:
    size of the embeddings if it differs from `hidden_size` (ELECTRA, ALBERT). `scaled_initialisation`: the
    initial weights before each residual addition are divided by sqrt(2 x layers) (Shoeybi et al. 2019;
    megatron-bert; modernbert's always are).

    - `layers`: number of layers.
    - `hidden_size`: width of the encodings.
    - `attention_heads`: number of heads in each layer; they divide `hidden_size`.
    - `intermediate_size`: width of the feed-forward layers.
    - `max_positions`: longest sequence, in tokens.
    - `dropout`: share of values set to zero in training.
    - `initializer_range`: standard deviation of the initial weights.
    - `rotary`: windows and rotary positions of modernbert.
    """

    family: Family
    layers: Positive
    hidden_size: Positive
    attention_heads: Positive
    intermediate_size: int
    embedding_size: int | None = None
    max_positions: int = 512
    dropout: float = 0.1
    initializer_range: float = 0.02
    scaled_initialisation: bool = False
    rotary: RotaryAttention = ROTARY

    @property
    def gated(self) -> bool:
        """Whether feed-forward layers have gates."""
        return self.family == "modernbert"


class Optimisation(StrictRecipe):
    """An optimiser from `pubmill.optimisers` and its settings. The learning rate rises linearly over the
    first `warmup` share of the steps, then follows `schedule`.

    - `optimiser`: a name in `pubmill.optimisers`.
    - `learning_rate`: the highest rate.
    - `warmup`: share of the steps in which the rate rises.
    - `beta1`: decay of the mean of gradients.
    - `beta2`: decay of the mean of squared gradients.
    - `epsilon`: added to the denominator of an update.
    - `weight_decay`: share of a weight that a step at rate 1 removes.
    - `max_gradient_norm`: longer gradients are shortened to this norm; null: never.
    - `schedule`: `linear`: the rate falls linearly to 0; `stable-linear`, `stable-sqrt`: it stays until the
      last `decay` share of the steps, and falls to `final_rate` linearly or as 1 minus a square root (Haegele
      et al. 2024).
    - `decay`: share of the steps in which a stable rate falls.
    - `final_rate`: share of the highest rate at which a stable rate ends.
    """

    optimiser: str = "adamw"
    learning_rate: PositiveFloat
    warmup: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    weight_decay: float = 0.01
    max_gradient_norm: float | None = 1.0
    schedule: Literal["linear", "stable-linear", "stable-sqrt"] = "linear"
    decay: float = 0.0
    final_rate: float = 0.0

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise ValueError(f"unknown optimiser {self.optimiser!r}; expected one of {', '.join(OPTIMISERS)}")
        if self.schedule == "linear" and (self.decay or self.final_rate):
            raise ValueError("decay and final_rate are for stable schedules; schedule linear falls to 0")
        if not (self.decay >= 0 and self.warmup >= 0 and self.decay + self.warmup <= 1):
            raise ValueError(f"warmup {self.warmup} and decay {self.decay} are shares, together at most 1")


class PretrainingRecipe(StrictRecipe):
    """One pretraining: `steps` updates on batches of `batch_size` sequences of `sequence_length` tokens.

    `recompute_activations` (activation checkpointing) and `shard_optimiser` (the optimiser's state is spread
    over the processes) save memory and do not affect the result, so they can be switched between restarts.

    - `architecture`: the encoder.
    - `objective`: what is predicted.
    - `optimisation`: the optimiser and its learning rate.
    - `sequence_length`: tokens in a sequence.
    - `batch_size`: sequences in a step.
    - `steps`: number of updates.
    - `seed`: of the weights, the order and the masks.
    - `precision`: number format of the computation (`auto`: bfloat16 where the device has it, else float16 on
      GPUs with tensor cores, else float32).
    - `recompute_activations`: activation checkpointing.
    - `shard_optimiser`: the optimiser's state is spread over the processes.
    """

    architecture: Architecture
    objective: Objective
    optimisation: Optimisation
    sequence_length: Positive
    batch_size: Positive
    steps: Positive
    seed: int = 1
    precision: Precision = "auto"
    recompute_activations: bool = False
    shard_optimiser: bool = False

    def __post_init__(self) -> None:
        if faults := _contradictions(self):
            raise ValueError("; ".join(faults))


class PackingRecipe(StrictRecipe):
    """Options that determine the packed tokens besides corpus, vocabulary and Punkt: whether titles are
    included, and the share of documents that are held out."""

    title: bool = False
    held_out: float = 0.005


MEMORY_ONLY = ("recompute_activations", "shard_optimiser")
"""Keys of a PretrainingRecipe that affect memory only, not the result."""


def _contradictions(recipe: PretrainingRecipe) -> list[str]:
    """Report settings that contradict each other or that the family does not support."""
    architecture, objective, *names, last = recipe.architecture, recipe.objective, *OBJECTIVES
    family, pairs, causal = architecture.family, objective.pairs, objective.causal
    extras = [getattr(objective, name) for name in OBJECTIVES]
    length, longest = recipe.sequence_length, architecture.max_positions
    hidden, heads = architecture.hidden_size, architecture.attention_heads
    masked, replaced = objective.replaced_by_mask, objective.replaced_at_random
    are_shares, mixed = 0 <= masked <= masked + replaced <= 1, causal is not None and causal.share < 1
    wrong = {
        "family electra needs objective.generator, and only it has one": (family == "electra")
        != (objective.generator is not None),
        f"only one of {', '.join(names)} and {last} is allowed": sum(map(bool, extras)) > 1,
        f"family {family} has one segment; it needs pairs: none": family in ("roberta", "modernbert")
        and pairs != "none",
        "family electra has no head for pairs; pairs can be unlabelled or none": family == "electra"
        and pairs not in ("unlabelled", "none"),
        "family albert has no next-sentence head; pairs can be sentence-order": family == "albert"
        and pairs == "next-sentence",
        "masking independent needs causal.share 1: no token before the first one predicts it": mixed
        and objective.masking == "independent",
        "causal.share below 1 needs a batch_size above 1: a step has sequences of both kinds": mixed
        and recipe.batch_size == 1,
        "causal needs family modernbert": causal is not None and family != "modernbert",
        "rotary is for modernbert": architecture.rotary != ROTARY and family != "modernbert",
        "scaled_initialisation is for megatron-bert": architecture.scaled_initialisation
        and family != "megatron-bert",
        "sequences full needs pairs: none": objective.sequences == "full" and pairs != "none",
        f"embedding_size is for electra and albert, not for {family}": architecture.embedding_size is not None
        and family not in ("electra", "albert"),
        f"hidden_size {hidden} is not a multiple of attention_heads {heads}": hidden % heads > 0,
        "replaced_by_mask and replaced_at_random are shares, together at most 1": not are_shares,
        f"sequence_length {length} exceeds max_positions {longest}": length > longest,
    }
    return [fault for fault, present in wrong.items() if present]
