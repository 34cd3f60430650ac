"""One step of pretraining, a function of recipe and step number, on one process or several.

Two segments of 50 steps give the same weights, bit for bit, as one of 100 steps, and so does a segment that
was killed and run again, with the same processor, number of processes and threads, and version of torch;
these are recorded in state.json. On a GPU this requires PUBMILL_DETERMINISTIC=1 (see
`pubmill.hardware.torch_setup`) and enough memory for the micro-batches. With another number of processes,
batches are the same, and losses equal except for rounding (and for dropout, whose random numbers depend on
the process).
"""

import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.parallel import DistributedDataParallel

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.hardware.precision import choose_precision
from pubmill.messages.progress import report_progress
from pubmill.pretraining.architectures import build_model, load_model
from pubmill.pretraining.distributed import World
from pubmill.pretraining.flops import flops_of_step
from pubmill.pretraining.instances import (
    UNLABELLED,
    Instances,
    Packed,
    PackedBatch,
    Stream,
    generator,
    micro_batches,
    seed_sequence,
)
from pubmill.pretraining.masking import Masked, Vocabulary, mask, masking_rate
from pubmill.pretraining.micro_batches import Part, collate
from pubmill.pretraining.objectives import kind_of
from pubmill.pretraining.objectives.learner import Learner
from pubmill.pretraining.optimisation import build_optimiser, learning_rate, set_learning_rate
from pubmill.recipes import Objective, PretrainingRecipe

# Positions computed together. On a CPU few, which stay near the cache and, with sequences sorted by length,
# need little padding (2,048 and 4,096 are about equally fast per position). On a GPU as many as fit into half
# of its memory: the backward pass keeps 44 bytes per position, layer and hidden unit (counted on a CPU), and
# somewhat more is assumed.
TOKENS_AT_ONCE = {"cpu": 2048, "cuda": 65536}
BYTES_KEPT, BYTES_RECOMPUTED = 52, 8
HELD_OUT_SEQUENCES = 4096
Sums = dict[str, float]


class Pretraining:
    """A pretraining at some step: learner, optimiser, and the data of the next step.

    `start`: a Hugging Face folder with the initial weights. `teacher`: one whose predictions are also learnt.
    `stop_asked` returns whether to abandon a step between two micro-batches; all processes abandon it if one
    of them is asked to.
    """

    def __init__(
        self,
        recipe: PretrainingRecipe,
        packed: Packed,
        vocabulary: Vocabulary,
        world: World,
        start: Path | None = None,
        teacher: Path | None = None,
    ) -> None:
        self.recipe, self.vocabulary, self.world = recipe, vocabulary, world
        self.precision = choose_precision(recipe.precision, world.device)
        self.instances = Instances(packed, recipe)
        self.learner = build_learner(recipe, vocabulary.size, packed.special, start, teacher).to(world.device)
        self.learner.train()
        # With several processes, each adds its gradients to the others' as they are computed.
        self.trained: Any = DistributedDataParallel(self.learner) if world.size > 1 else self.learner
        self.terms = self.learner.terms
        self.sharded = recipe.shard_optimiser and world.size > 1
        self.optimiser = build_optimiser(self.learner.parameters(), recipe.optimisation, self.sharded)
        self.pad = packed.special["pad"]
        self._ahead: dict[int, Future[tuple[PackedBatch, Masked]]] = {}
        self._maker = ThreadPoolExecutor(1, "batches")
        self.at_once = max(1, tokens_at_once(recipe, world.device) // recipe.sequence_length)
        self.stop_asked: Callable[[], bool] = lambda: False

    @property
    def model(self) -> Any:
        """Return the model to export."""
        return self.learner.model

    def update(self, step: int) -> Sums:
        """Make one update (from 0); return sums over the batch.

        Raises `FloatingPointError` if the loss is not finite, and `StopRequestedError` if the update was
        abandoned; weights and optimiser are then unchanged.
        """
        recipe = self.recipe
        batch, hidden = self._prepared_batch(step)
        sums = self._process_batch(batch, hidden, (recipe.seed, step), learn=True)
        norm = sums.pop("norm")
        if not math.isfinite(sums["loss"] + norm):
            raise FloatingPointError(f"loss or gradient is not a number (gradient norm {norm})")
        set_learning_rate(self.optimiser, learning_rate(recipe.optimisation, step, recipe.steps))
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return sums

    def _prepared_batch(self, step: int) -> tuple[PackedBatch, Masked]:
        """Return the batch of a step; the next one is prepared meanwhile, so a GPU need not wait."""
        ahead = self._ahead
        self._ahead = {
            wanted: ahead.get(wanted) or self._maker.submit(self.masked_batch, wanted)
            for wanted in (step, step + 1)
        }
        return self._ahead[step].result()

    def masked_batch(self, step: int) -> tuple[PackedBatch, Masked]:
        """Return the batch of a step with its masked tokens, independent of the number of processes."""
        recipe = self.recipe
        batch = self.instances.batch(step)
        rate = masking_rate(recipe.objective, step, recipe.steps)
        random = generator(recipe.seed, Stream.MASKS, step)
        return batch, mask(
            batch.ids, batch.inner, batch.lengths, self.vocabulary, recipe.objective, rate, random
        )

    def evaluate(self, held_out: Packed, masking: str) -> Sums | None:
        """Return sums over at most `HELD_OUT_SEQUENCES` held-out sequences; None without held-out documents.

        The masks of a `masking` are the same for every recipe.
        """
        if not len(held_out.ids):
            return None
        objective: Objective = replace(self.recipe.objective, masking=masking)  # type: ignore[arg-type]
        instances = Instances(held_out, self.recipe)
        chosen = np.unique(np.linspace(0, len(instances) - 1, HELD_OUT_SEQUENCES).astype(np.int64))
        random = generator(0, Stream.HELD_OUT)
        batch = instances.lay_out(chosen, random)
        hidden = mask(batch.ids, batch.inner, batch.lengths, self.vocabulary, objective, 0.15, random)
        self.learner.eval()
        with torch.no_grad():
            sums = self._process_batch(batch, hidden, (0, 0), learn=False)
        self.learner.train()
        return sums

    def _process_batch(
        self, batch: PackedBatch, hidden: Masked, random: tuple[int, int], learn: bool
    ) -> Sums:
        """Process a batch; if the GPU's memory is too small, repeat it with smaller micro-batches.

        The losses are sums over micro-batches, so their size changes results only by rounding (and dropout,
        which draws random numbers for each micro-batch, from `random`: seed and step).
        """
        while True:
            seed_torch(*random, self.world.rank)
            try:
                return self._process_batch_once(batch, hidden, learn)
            except torch.OutOfMemoryError:
                self._halve_micro_batch()
            # Outside of the handler, as the error's traceback keeps the tensors of the micro-batch alive.
            self.optimiser.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()

    def _halve_micro_batch(self) -> None:
        """Halve the number of sequences per micro-batch from now on; raise a `PubmillError` if that cannot
        help."""
        length = self.recipe.sequence_length
        found = f"the GPU has too little memory for {self.at_once} sequences of {length} tokens at once"
        # Other processes would wait for the gradients of this one.
        if self.at_once == 1 or self.world.size > 1:
            raise PubmillError(
                f"{found}; set recompute_activations: true or take GPUs with more memory. The same command "
                "continues from the last save"
            )
        self.at_once //= 2
        report_progress(f"{found}; continuing with {self.at_once} at once")

    def _process_batch_once(self, batch: PackedBatch, hidden: Masked, learn: bool) -> Sums:
        """Process a batch, with clipped gradients when learning; return its sums over all processes.

        Also returns `norm`, the norm of the gradients before they were clipped.
        """
        counts = denominators(batch, hidden)
        labels = hidden.everywhere(UNLABELLED)
        mine = micro_batches(batch.lengths, self.at_once, self.world.rank, self.world.size)
        measured = names(self.learner)
        totals = torch.zeros(len(measured), dtype=torch.float64, device=self.world.device)
        nothing, padded = totals.new_zeros(()), 0
        shared = len(batch.lengths) // self.world.size  # Every process has this many sequences, or one more.
        for number, rows in enumerate(mine):
            # Only up to `shared`, so that all processes ask each other equally often.
            if 0 < number * self.at_once < shared:
                self._give_up_if_asked()
            part = collate(batch, hidden.ids, labels, rows, self.pad, self.world.device)
            padded += part.ids.numel()
            with nullcontext() if number == len(mine) - 1 or not learn else self._no_sync():
                terms = self._process_micro_batch(part, counts, learn)
            totals += torch.stack([terms.get(name, nothing).detach().double() for name in measured])
        # The only values of a step that are read from the device, after all its work has been queued.
        *values, norm = torch.cat([totals, self._clip_gradients(learn)]).tolist()
        found = {"padded": float(padded), **dict(zip(measured, values, strict=True))}
        sums = self.world.total(found) | counts
        sums["loss"] = sum(
            term.weight * sums[f"{term.name}_loss"] / max(1.0, sums[term.per]) for term in self.terms
        )
        return sums | {"flops": self._step_flops(batch, sums), "cut": float(batch.cut), "norm": norm}

    def _clip_gradients(self, learn: bool) -> torch.Tensor:
        """Clip the gradients, if any; return their norm before (1, float64)."""
        if not learn:
            return torch.zeros(1, dtype=torch.float64, device=self.world.device)
        most = self.recipe.optimisation.max_gradient_norm
        return torch.nn.utils.clip_grad_norm_(self.learner.parameters(), most).double().unsqueeze(0)

    def _give_up_if_asked(self) -> None:
        """Discard the step's gradients and raise `StopRequestedError` if any process was asked to stop."""
        if self.world.total({"stop": float(self.stop_asked())})["stop"]:
            self.optimiser.zero_grad(set_to_none=True)
            raise StopRequestedError

    def _no_sync(self) -> Any:
        """Keep gradients in this process, except those of the last micro-batch."""
        return self.trained.no_sync() if self.world.size > 1 else nullcontext()

    def _process_micro_batch(self, part: Part, counts: Sums, learn: bool) -> dict[str, torch.Tensor]:
        """Return a micro-batch's sums; add its gradients when learning."""
        with torch.autocast(self.world.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
            found: dict[str, torch.Tensor] = self.trained(part) if learn else self.learner.evaluate(part)
        if learn:
            parts = [
                term.weight * found[f"{term.name}_loss"] / max(1.0, counts[term.per]) for term in self.terms
            ]
            # Gradients are averaged over processes, but each process has only its share of the batch.
            (torch.stack(parts).sum() * self.world.size).backward()  # type: ignore[no-untyped-call]
        return found

    def _step_flops(self, batch: PackedBatch, sums: Sums) -> float:
        squares = float((batch.lengths**2).sum())
        return flops_of_step(self.learner, sums["tokens"], squares, sums["masked"])


def tokens_at_once(recipe: PretrainingRecipe, device: torch.device) -> int:
    """Return the number of positions that the network processes together."""
    most = TOKENS_AT_ONCE[device.type]
    if device.type != "cuda":
        return most
    shape, kept = recipe.architecture, BYTES_RECOMPUTED if recipe.recompute_activations else BYTES_KEPT
    room = torch.cuda.get_device_properties(device).total_memory // 2
    return min(most, room // (kept * shape.hidden_size * shape.layers))


def build_learner(
    recipe: PretrainingRecipe,
    vocab_size: int,
    special: dict[str, int],
    start: Path | None,
    teacher: Path | None,
) -> Learner:
    """Return what the recipe's objective trains, freshly initialised or with the weights of the folder
    `start`."""
    form = recipe.architecture, recipe.objective, vocab_size, special, recipe.seed
    model = load_model(start, *form) if start else build_model(*form)
    module, _, name = kind_of(recipe.objective).learner.partition(":")
    learner: type[Learner] = getattr(import_module(module), name)
    return learner.build(model, recipe, teacher)


def denominators(batch: PackedBatch, hidden: Masked) -> Sums:
    """Return the denominators of the losses, for the whole batch."""
    return {
        "tokens": float(len(batch.ids)),
        "masked": float(len(hidden.labels)),
        "pairs": float((batch.pair_labels != UNLABELLED).sum()),
    }


def names(learner: Learner) -> list[str]:
    """Return a learner's sums over a batch."""
    kinds = [(term.name, kind) for term in learner.terms for kind in ("loss", "correct")]
    return [f"{name}_{kind}" for name, kind in kinds]


def seed_torch(seed: int, step: int, rank: int = 0) -> None:
    """Seed dropout with this step's random numbers."""
    torch.manual_seed(
        int(seed_sequence(seed, Stream.DROPOUT, step, rank).generate_state(1, np.uint64)[0] >> 1)
    )
