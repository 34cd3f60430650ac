"""Batches of pretraining: masked, divided into micro-batches, prepared one step ahead in another thread."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import torch

from pubmill.pretraining.distributed import World
from pubmill.pretraining.instances import (
    UNLABELLED,
    Instances,
    PackedBatch,
    Stream,
    micro_batches,
    shares,
)
from pubmill.pretraining.masking import Draws, Masked, Vocabulary, hide, masking_rate
from pubmill.pretraining.methods import PLAIN
from pubmill.pretraining.micro_batches import Part, collate, collate_flat, flat_micro_batches, flat_size
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import Objective, PretrainingRecipe

# Positions computed together. On a CPU few, which stay near the cache and, with sequences sorted by length,
# need little padding (2,048 and 4,096 are about equally fast per position). On a GPU as many as fit into half
# of its memory: the backward pass keeps 44 bytes per position, layer and hidden unit (counted on a CPU), and
# somewhat more is assumed.
TOKENS_AT_ONCE = {"cpu": 2048, "cuda": 65536}
BYTES_KEPT, BYTES_RECOMPUTED = 52, 8


@dataclass(frozen=True)
class PreparedBatch:
    """The batch of a step, and this process's share of it: as sequences, after masking, in micro-batches.
    `parts`: a function for each micro-batch, which returns it on the device; `common`: every process has at
    least so many; `at_once`: most sequences of full length in one."""

    whole: PackedBatch
    own: PackedBatch
    hidden: Masked
    parts: list[Callable[[], Part]]
    common: int
    at_once: int

    def denominators(self) -> dict[str, float]:
        """Return the numbers of tokens, masked tokens, pairs and next tokens of this process: denominators of
        the mean losses."""
        return {
            "tokens": float(len(self.own.ids)),
            "masked": float(len(self.hidden.labels) - self.hidden.next_tokens),
            "pairs": float((self.own.pair_labels != UNLABELLED).sum()),
            "causal": float(self.hidden.next_tokens),
        }


class BatchPreparation:
    """The batches of a recipe, each a function of the step. `at_once`: sequences of a micro-batch; `methods`:
    how micro-batches are computed. Both may be changed."""

    def __init__(
        self, recipe: PretrainingRecipe, packed: PackedTokens, vocabulary: Vocabulary, world: World
    ) -> None:
        self.recipe, self.vocabulary, self.world = recipe, vocabulary, world
        self.instances = Instances(packed, recipe)
        self.pad = packed.special["pad"]
        self.at_once = max(1, tokens_at_once(recipe, world.device) // recipe.sequence_length)
        self.methods = PLAIN
        self._ahead: dict[int, Future[PreparedBatch]] = {}
        self._maker = ThreadPoolExecutor(1, "batches")
        self._flat_size = cache(self._tokens_per_micro_batch)

    def prepared(self, step: int) -> PreparedBatch:
        """Return the batch of a step; the next one is prepared meanwhile, so a GPU need not wait."""
        ahead = self._ahead
        self._ahead = {
            wanted: ahead.get(wanted) or self._maker.submit(self.prepare, wanted)
            for wanted in (step, step + 1)
        }
        return self._ahead[step].result()

    def prepare(self, step: int) -> PreparedBatch:
        """Return the batch of a step."""
        recipe = self.recipe
        rate = masking_rate(recipe.objective, step, recipe.steps)
        batch = self.instances.batch(step)
        return self.mask(batch, recipe.objective, rate, recipe.seed, Stream.MASKS, step)

    def mask(
        self, whole: PackedBatch, objective: Objective, rate: float, seed: int, stream: Stream, *numbers: int
    ) -> PreparedBatch:
        """Return a batch with this process's share masked at a `rate`; `seed`, `stream` and `numbers` as for
        `generator`. The masked tokens do not depend on the number of processes."""
        sequences = shares(whole.lengths, self.world.size)[self.world.rank]
        own = whole if self.world.size == 1 else whole.take(sequences)
        draws = Draws(sequences, seed, stream, numbers)
        return self.divide(whole, own, hide(own, self.vocabulary, objective, rate, draws, len(whole.lengths)))

    def divide(self, whole: PackedBatch, own: PackedBatch, hidden: Masked) -> PreparedBatch:
        """Divide this process's share into micro-batches, collated now if unpadded, else when used."""
        labels, device, at_once = hidden.everywhere(UNLABELLED), self.world.device, self.at_once
        parts: list[Callable[[], Part]]
        if self.methods.sequences == "padded":
            shared = len(whole.lengths) // self.world.size  # Every process has these sequences, or one more.
            common = -(-shared // at_once)
            parts = [
                partial(collate, own, hidden.ids, labels, rows, self.pad, device, hidden.causal)
                for rows in micro_batches(own.lengths, at_once)
            ]
        else:
            tokens, longest = self._flat_size(at_once), self.recipe.sequence_length
            lengths = (whole.lengths[share] for share in shares(whole.lengths, self.world.size))
            everyones = [flat_micro_batches(of_process, tokens) for of_process in lengths]
            common = min(map(len, everyones))
            flat = [
                collate_flat(own, hidden.ids, labels, rows, tokens, longest, self.pad, hidden.causal)
                for rows in everyones[self.world.rank]
            ]
            compiled = self.methods.layers == "compiled"
            parts = [partial(part.to, device, compiled) for part in flat]
        return PreparedBatch(whole, own, hidden, parts, common, at_once)

    def _tokens_per_micro_batch(self, at_once: int) -> int:
        """Return the tokens of a micro-batch without padding."""
        sequences, longest = -(-self.recipe.batch_size // self.world.size), self.recipe.sequence_length
        return flat_size(self.instances, sequences, at_once * longest, longest)


def tokens_at_once(recipe: PretrainingRecipe, device: torch.device) -> int:
    """Return the number of positions that the network processes together."""
    most = TOKENS_AT_ONCE[device.type]
    if device.type != "cuda":
        return most
    shape, kept = recipe.architecture, BYTES_RECOMPUTED if recipe.recompute_activations else BYTES_KEPT
    room = torch.cuda.get_device_properties(device).total_memory // 2
    return min(most, room // (kept * shape.hidden_size * shape.layers))
