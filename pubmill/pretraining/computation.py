"""Losses and gradients of a micro-batch, by the fastest methods that work on the device."""

import torch

from pubmill.hardware.compilers import fault_of_kernels
from pubmill.hardware.torch_setup import NumberFormat, autocast
from pubmill.messages.progress import report_slower
from pubmill.optimisers.loss_scaling import LossScaling
from pubmill.pretraining.batch_preparation import BatchPreparation, denominators
from pubmill.pretraining.distributed import World
from pubmill.pretraining.learners import Learner
from pubmill.pretraining.methods import (
    PLAIN,
    Bfloat16Copies,
    Methods,
    activate_attention,
    fastest,
    slower,
    vocabulary_rows,
)
from pubmill.pretraining.micro_batches import Part
from pubmill.recipes.objectives import kind_of

Sums = dict[str, float]


class Computation:
    """How a learner's losses and gradients are computed. `refused`: the fastest methods of this device and
    objective, and why they do not work here; None if they do. `copies`: the weights in bfloat16 with which it
    computes, if the methods have them."""

    def __init__(
        self, learner: Learner, precision: NumberFormat, scaling: LossScaling, batches: BatchPreparation
    ) -> None:
        self.learner, self.precision, self.scaling, self.batches = learner, precision, scaling, batches
        self.world: World = batches.world
        may_round = kind_of(learner.objective).in_bfloat16 and precision == "bfloat16"
        self._use(fastest(learner.networks, may_round, self.world.device))
        self.copies: Bfloat16Copies | None = None
        if self.methods.weights == "bfloat16":
            self.copies = Bfloat16Copies(learner, vocabulary_rows(learner.networks.values()))
        self.refused: str | None = None
        while self.methods != PLAIN and (fault := self._fault_of_methods()):
            self._refuse_methods(fault)
        self.copies = self.copies if self.methods.weights == "bfloat16" else None

    def process(self, part: Part, counts: Sums, learn: bool) -> dict[str, torch.Tensor]:
        """Return a micro-batch's sums; add its gradients when learning. `counts`: those of `denominators`."""
        sums = self._compute_losses(part, learn)
        if learn:
            parts = [
                term.weight * sums[f"{term.name}_loss"] / max(1.0, counts[term.per])
                for term in self.learner.terms
            ]
            self.scaling.backward(torch.stack(parts).sum())
            if self.copies:
                self.copies.add_gradients()
        return sums

    def _compute_losses(self, part: Part, learn: bool) -> dict[str, torch.Tensor]:
        if self.copies:
            return self.copies(part)
        self.learner.slope_scale = self.scaling.scale
        with autocast(self.world.device, self.precision):
            sums: dict[str, torch.Tensor] = self.learner(part) if learn else self.learner.evaluate(part)
        return sums

    def drop_gradients(self) -> None:
        """Forget all gradients."""
        for weight in self.learner.parameters():
            weight.grad = None
        if self.copies:
            self.copies.drop_gradients()

    def _use(self, methods: Methods) -> None:
        self.methods = self.batches.methods = methods

    def _refuse_methods(self, fault: str) -> None:
        """Use slower methods."""
        refused = f"{self.methods.describe()} do not work here ({fault})"
        report_slower(f"{refused}; trying others")
        self.refused = self.refused or refused
        self._use(slower(self.methods))
        torch.compiler.reset()

    def _fault_of_methods(self) -> str | None:
        """Return why the methods fail on one micro-batch, forward and backward, in any process; None if they
        work. Its gradients are dropped. Lack of memory is no failure: the first step halves micro-batches."""
        _, batch, hidden, micro = self.batches.prepare(0)
        fault = None
        try:
            activate_attention(self.methods)
            sums = self.process(micro.parts[0](), denominators(batch, hidden), learn=True)
            if not torch.stack([value.double() for value in sums.values()]).sum().isfinite().item():
                fault = "the loss is not a number"
        except torch.OutOfMemoryError:
            pass
        except Exception as error:  # Whatever a compiler or a missing kernel raises.
            fault = fault_of_kernels(error)
        self.drop_gradients()
        [anywhere] = self.world.any(fault is not None)
        return (fault or "they fail in another process") if anywhere else None
