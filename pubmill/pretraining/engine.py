"""One step of pretraining, a function of recipe and step number, on one process or several; its optimiser.

Two segments of 50 steps give the same weights, bit for bit, as one of 100 steps, and so does a segment that
was killed and run again, with the same processor, number of processes and threads, and version of torch;
these are recorded in state.json. On a GPU this requires PUBMILL_DETERMINISTIC=1 (see
`pubmill.hardware.torch_setup`) and enough memory for the micro-batches. With another number of processes,
batches are the same, and losses equal except for rounding (and for dropout, whose random numbers depend on
the process).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.hardware.compilers import fault_of_kernels
from pubmill.hardware.torch_setup import NumberFormat, autocast, choose_precision
from pubmill.messages.progress import report_progress, report_slower
from pubmill.optimisers import OPTIMISERS, orthogonal_operations, stable, triangle
from pubmill.optimisers.loss_scaling import LossScaling
from pubmill.pretraining.architectures import build_model, load_model
from pubmill.pretraining.arithmetic import Size, shape_of_network, step_operations
from pubmill.pretraining.batch_preparation import BatchPreparation, PreparedBatch
from pubmill.pretraining.distributed import OverlappedSums, World
from pubmill.pretraining.instances import Instances, Stream, generator, seed_sequence
from pubmill.pretraining.learners import Learner
from pubmill.pretraining.masking import Vocabulary
from pubmill.pretraining.methods import (
    PLAIN,
    SLOWER,
    Bfloat16Copies,
    activate_attention,
    fastest,
    vocabulary_rows,
)
from pubmill.pretraining.micro_batches import Part
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import Objective, Optimisation, PretrainingRecipe
from pubmill.recipes.objectives import kind_of

Sums = dict[str, float]
HELD_OUT_SEQUENCES = 4096
EVALUATED_RATE = 0.15
"""Masking rate on held-out documents, whatever the recipe's."""


class Computation:
    """How a learner's losses and gradients are computed. `refused`: the fastest methods of this device and
    objective, and why they do not work here; None if they do. `copies`: the weights in bfloat16 with which it
    computes, if the methods have them."""

    def __init__(
        self, learner: Learner, precision: NumberFormat, scaling: LossScaling, batches: BatchPreparation
    ) -> None:
        self.learner, self.precision, self.scaling, self.batches = learner, precision, scaling, batches
        self.world = batches.world
        may_round = kind_of(learner.objective).in_bfloat16 and precision == "bfloat16"
        self.methods = batches.methods = fastest(learner.networks, may_round, self.world.device)
        self.copies: Bfloat16Copies | None = None
        if self.methods.weights == "bfloat16":
            self.copies = Bfloat16Copies(learner, vocabulary_rows(learner.networks.values()))
        self.refused: str | None = None
        while self.methods != PLAIN and (fault := self._fault_of_methods()):
            refused = f"{self.methods.describe()} do not work here ({fault})"
            report_slower(f"{refused}; trying others")
            self.refused = self.refused or refused
            self.methods = self.batches.methods = SLOWER.get(self.methods, PLAIN)
            torch.compiler.reset()
        self.copies = self.copies if self.methods.weights == "bfloat16" else None

    def process(self, part: Part, counts: Sums, learn: bool) -> dict[str, torch.Tensor]:
        """Return a micro-batch's sums; add its gradients when learning. `counts`: those of `denominators`."""
        sums: dict[str, torch.Tensor]
        if self.copies:
            sums = self.copies(part)
        else:
            self.learner.slope_scale = self.scaling.scale
            with autocast(self.world.device, self.precision):
                sums = self.learner(part) if learn else self.learner.evaluate(part)
        if learn:
            parts = [
                term.weight * sums[f"{term.name}_loss"] / max(1.0, counts[term.per])
                for term in self.learner.terms
            ]
            self.scaling.backward(torch.stack(parts).sum())
            if self.copies:
                self.copies.add_gradients()
        return sums

    def drop_gradients(self) -> None:
        """Forget all gradients."""
        for weight in self.learner.parameters():
            weight.grad = None
        if self.copies:
            self.copies.drop_gradients()

    def _fault_of_methods(self) -> str | None:
        """Return why the methods fail on one micro-batch, forward and backward, in any process; None if they
        work. Its gradients are dropped. Lack of memory is no failure: the first step halves micro-batches."""
        prepared = self.batches.prepare(0)
        fault = None
        try:
            activate_attention(self.methods)
            sums = self.process(prepared.parts[0](), prepared.denominators(), learn=True)
            if not torch.stack([value.double() for value in sums.values()]).sum().isfinite().item():
                fault = "the loss is not a number"
        except torch.OutOfMemoryError:
            pass
        except Exception as error:  # Whatever a compiler or a missing kernel raises.
            fault = fault_of_kernels(error)
        self.drop_gradients()
        [anywhere] = self.world.any(fault is not None)
        return (fault or "they fail in another process") if anywhere else None


class Pretraining:
    """A pretraining at some step: learner, optimiser, and the data of the next step. `start`: a Hugging Face
    folder with the initial weights. `teacher`: one whose predictions are also learnt. `at_once`: sequences
    per micro-batch instead of as many as fit. `stop_asked` returns whether to abandon a step between two
    micro-batches; all processes abandon it if one of them is asked to."""

    def __init__(
        self,
        recipe: PretrainingRecipe,
        packed: PackedTokens,
        vocabulary: Vocabulary,
        world: World,
        start: Path | None = None,
        teacher: Path | None = None,
        at_once: int | None = None,
    ) -> None:
        self.recipe, self.vocabulary, self.world = recipe, vocabulary, world
        self.precision = choose_precision(recipe.precision, world.device)
        self.batches = BatchPreparation(recipe, packed, vocabulary, world)
        self.batches.at_once = at_once or self.batches.at_once
        self.learner = build_learner(recipe, vocabulary.size, packed.special, start, teacher).to(world.device)
        self.learner.train()
        world.spread(self.learner.parameters())
        self.terms = self.learner.terms
        self.measured = [f"{term.name}_{kind}" for term in self.terms for kind in ("loss", "correct")]
        self.sharded = recipe.shard_optimiser and world.size > 1
        self.optimiser = build_optimiser(self.learner, recipe.optimisation, self.sharded)
        self.scaling = LossScaling(self.precision, world.device)
        self.stop_asked: Callable[[], bool] = lambda: False
        self.computation = Computation(self.learner, self.precision, self.scaling, self.batches)
        self.sums = OverlappedSums(self.learner.parameters(), world)
        if self.computation.copies:
            self.computation.copies.call_when_ready(self.sums)

    @property
    def model(self) -> Any:
        """Return the model to export."""
        return self.learner.model

    def update(self, step: int) -> Sums:
        """Make the update of a step (from 0); return sums over the batch, and `skipped` after an overflow.
        Raises `FloatingPointError` if the loss is not finite (in float16, at any scale), and
        `StopRequestedError` if the update was abandoned; weights and optimiser are then unchanged."""
        recipe, scaling = self.recipe, self.scaling
        sums = self._process_batch(self.batches.prepared(step), (recipe.seed, step), learn=True)
        norm = sums.pop("norm")
        finite = math.isfinite(sums["loss"] + norm)
        rate = learning_rate(recipe.optimisation, step - scaling.skipped, recipe.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        updated = (finite or scaling.active) and scaling.step(self.optimiser)
        if not finite and (updated or not scaling.active):
            raise FloatingPointError(f"loss or gradient is not a number (gradient norm {norm})")
        self.computation.drop_gradients()
        return sums if updated else sums | {"skipped": 1.0}

    def evaluate(self, held_out: PackedTokens, masking: str) -> Sums | None:
        """Return sums over at most `HELD_OUT_SEQUENCES` held-out sequences; None without held-out documents.
        The random numbers of pairs and masks do not depend on the recipe's seed."""
        if not len(held_out.ids):
            return None
        objective: Objective = replace(self.recipe.objective, masking=masking)  # type: ignore[arg-type]
        instances = Instances(held_out, self.recipe)
        chosen = np.unique(np.linspace(0, len(instances) - 1, HELD_OUT_SEQUENCES).astype(np.int64))
        batch = instances.lay_out(chosen, generator(0, Stream.HELD_OUT))
        return self.measure(self.batches.mask(batch, objective, EVALUATED_RATE, 0, Stream.HELD_OUT))

    def measure(self, prepared: PreparedBatch) -> Sums:
        """Return sums over a batch that is not trained on."""
        self.learner.eval()
        with torch.no_grad():
            sums = self._process_batch(prepared, (0, 0), learn=False)
        self.learner.train()
        return sums

    def _process_batch(self, prepared: PreparedBatch, random: tuple[int, int], learn: bool) -> Sums:
        """Process a batch; if a GPU's memory is too small, repeat it with smaller micro-batches. The losses
        are sums over micro-batches, so their size changes results only by rounding (and dropout, which draws
        random numbers for each micro-batch, from `random`: seed and step)."""
        counts = self.world.total(prepared.denominators())
        while True:
            if prepared.at_once != self.batches.at_once:
                prepared = self.batches.divide(prepared.whole, prepared.own, prepared.hidden)
            seed_torch(*random, self.world.rank)
            if self.computation.copies:
                self.computation.copies.refresh()
            if totals := self._accumulate_gradients(prepared, counts, learn):
                return self._sum_over_processes(prepared, counts, *totals, learn)
            self.computation.drop_gradients()
            self._halve_micro_batch()
            torch.cuda.empty_cache()

    def _halve_micro_batch(self) -> None:
        """Halve the sequences per micro-batch from now on; raise a `PubmillError` if that cannot help."""
        length, at_once = self.recipe.sequence_length, self.batches.at_once
        fault = f"the GPU has too little memory for {at_once} sequences of {length} tokens at once"
        if at_once == 1:
            raise PubmillError(
                f"{fault}; set recompute_activations: true or take GPUs with more memory. The same command "
                "continues from the last save"
            )
        self.batches.at_once = at_once // 2
        if self.computation.methods.layers != "eager":
            torch.compiler.reset()  # Each size is compiled anew, and PyTorch limits how often.
        if self.world.first:
            report_progress(f"{fault}; continuing with {at_once // 2} at once")

    def _accumulate_gradients(
        self, prepared: PreparedBatch, counts: Sums, learn: bool
    ) -> tuple[torch.Tensor, float] | None:
        """Process all micro-batches; return their sums and the number of positions, padding included. None if
        any process has too little memory: all exchange this between micro-batches, and at the end."""
        self.sums.begin()
        totals = torch.zeros(len(self.measured), dtype=torch.float64, device=self.world.device)
        nothing, padded, short = totals.new_zeros(()), 0, False
        for number, make in enumerate(prepared.parts):
            # Only while all processes have micro-batches, so that they ask each other equally often.
            if 0 < number < prepared.common and self._share_flags(short, self.stop_asked()):
                return None
            try:
                part = make()
                padded += part.ids.numel()
                self.sums.active = learn and number + 1 == len(prepared.parts)
                terms = self.computation.process(part, counts, learn)
                totals += torch.stack([terms.get(name, nothing).detach().double() for name in self.measured])
            except torch.OutOfMemoryError:
                short = True
            # Outside of the handler, as the error's traceback keeps the tensors of the micro-batch alive.
            if short:
                if learn and number + 1 >= prepared.common:  # Others may have begun to add gradients.
                    self.sums.finish()
                self._share_flags(short, self.stop_asked() and number + 1 < prepared.common)
                return None
        if learn:
            self.sums.finish()
        return None if self._share_flags(short, False) else (totals, float(padded))

    def _share_flags(self, short: bool, stop: bool) -> bool:
        """Return whether any process has too little memory; if any is asked to stop, discard the step's
        gradients and raise `StopRequestedError`."""
        any_short, any_stop = self.world.any(short, stop)
        if any_stop:
            self.computation.drop_gradients()
            raise StopRequestedError
        return any_short

    def _sum_over_processes(
        self, prepared: PreparedBatch, counts: Sums, totals: torch.Tensor, padded: float, learn: bool
    ) -> Sums:
        """Return the sums over all processes, with clipped gradients when learning, and `norm`, the norm of
        the gradients before they were clipped."""
        before = totals.new_zeros(1)
        if learn:
            self.world.add_gradients(self.sums.others)
            self.scaling.unscale(self.optimiser)
            most = self.recipe.optimisation.max_gradient_norm or math.inf
            before = torch.nn.utils.clip_grad_norm_(self.learner.parameters(), most).double().unsqueeze(0)
        # The only values of a step that are read from the device, after all its work has been queued.
        *values, norm = torch.cat([totals, before]).tolist()
        sums = self.world.total({"padded": padded, **dict(zip(self.measured, values, strict=True))}) | counts
        sums["loss"] = sum(
            term.weight * sums[f"{term.name}_loss"] / max(1.0, sums[term.per]) for term in self.terms
        )
        squares, predicted = float((prepared.whole.lengths**2).sum()), sums["masked"] + sums["causal"]
        flops = flops_of_step(self.learner, sums["tokens"], squares, predicted)
        flops += update_operations(self.optimiser)
        return sums | {"flops": flops, "cut": float(prepared.whole.cut), "norm": norm}


def build_learner(
    recipe: PretrainingRecipe,
    vocab_size: int,
    special: dict[str, int],
    start: Path | None,
    teacher: Path | None,
) -> Learner:
    """Return the recipe's learner, freshly initialised or with the weights of the folder `start`."""
    form = recipe.architecture, recipe.objective, vocab_size, special, recipe.seed
    model = load_model(start, *form) if start else build_model(*form)
    module, _, name = kind_of(recipe.objective).learner.partition(":")
    learner: type[Learner] = getattr(import_module(module), name)
    return learner(model, recipe, teacher)


def seed_torch(seed: int, step: int, rank: int = 0) -> None:
    """Seed dropout with this step's random numbers."""
    state = seed_sequence(seed, Stream.DROPOUT, step, rank).generate_state(1, np.uint64)
    torch.manual_seed(int(state[0] >> 1))


def build_optimiser(
    learner: nn.Module, optimisation: Optimisation, sharded: bool = False
) -> torch.optim.Optimizer:
    """Return the recipe's optimiser, which decays all weights except biases and LayerNorm (as in BERT).
    `sharded`: each process keeps its share of the state. Embeddings are no matrices to Muon."""
    optimiser = OPTIMISERS[optimisation.optimiser]
    embeddings = (module for module in learner.modules() if isinstance(module, nn.Embedding))
    tables = {id(weight) for module in embeddings for weight in module.parameters()}
    matrices, others, vectors = list[nn.Parameter](), list[nn.Parameter](), list[nn.Parameter]()
    for weight in learner.parameters():
        if weight.ndim <= 1:
            vectors.append(weight)
        elif optimiser.matrices and id(weight) not in tables:
            matrices.append(weight)
        else:
            others.append(weight)
    groups: list[dict[str, Any]] = [
        {"params": others, "weight_decay": optimisation.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
        {"params": matrices, "weight_decay": optimisation.weight_decay, "orthogonal": True},
    ]
    made: torch.optim.Optimizer = optimiser.make(
        [group for group in groups if group["params"]],
        sharded,
        lr=optimisation.learning_rate,
        betas=(optimisation.beta1, optimisation.beta2),
        eps=optimisation.epsilon,
    )
    return made


def learning_rate(optimisation: Optimisation, step: int, steps: int) -> float:
    """Return the rate of a step (from 0) of `steps`: linear to the peak, then to zero (gu2020 section 6.1) or
    as the recipe's `schedule` says. The rise takes at least one step; a linear fall begins at its last."""
    rising = max(1, round(optimisation.warmup * steps))
    if optimisation.schedule != "linear":
        falling, root = round(optimisation.decay * steps), optimisation.schedule == "stable-sqrt"
        share = stable(step, steps, rising, falling, optimisation.final_rate, root)
        return optimisation.learning_rate * share
    part, whole = triangle(step, steps, rising, rising - 1)
    return optimisation.learning_rate * part / whole


def flops_of_step(learner: Learner, tokens: float, squares: float, masked: float) -> float:
    """Return the operations of all networks that learn or teach in a step, without recomputation."""
    networks = {name: shape_of_network(model) for name, model in learner.networks.items()}
    return step_operations(learner.objective, networks, Size(tokens, squares, masked))


def update_operations(optimiser: torch.optim.Optimizer) -> float:
    """Return the operations of matrix products in an update: Muon's, else none."""
    matrices = (one for group in optimiser.param_groups if group.get("orthogonal") for one in group["params"])
    return float(sum(orthogonal_operations(*weight.shape) for weight in matrices))
