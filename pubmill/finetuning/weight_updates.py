"""Learning rates and optimiser of fine-tuning (gu2020 section 6.2; tinn2021 sections 2.4, 3.2, 3.3), and the
working copy of a task model in bfloat16.

A GPU updates a large weight by one compiled kernel, if it works there, or by PyTorch's own.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from pubmill.finetuning.encoders import embeddings, layers
from pubmill.finetuning.heads import TaskModel
from pubmill.hardware.compilers import fault_of_kernels
from pubmill.hardware.torch_setup import to_device
from pubmill.messages.progress import report_slower
from pubmill.optimisers import OPTIMISERS, triangle
from pubmill.optimisers.loss_scaling import LossScaling
from pubmill.recipes import FinetuningRecipe

BETA1, BETA2 = 0.9, 0.999
Place = Literal["only", "not last", "last"]
"""Place of a part among the parts of its batch."""
Update = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], None]
"""A function of gradient, weight, both moments, the weight's copy, factors (`factors_of`) and the divisor of
gradients; it changes weight, moments and copy in place."""
MULTIPLE = 16
"""The compiled kernel updates weights whose number of elements is a multiple of this."""
CHECKED = 95 * MULTIPLE
"""Number of elements in the check of the kernel: more than one block."""
LARGE = 2**17
"""Least number of elements whose update takes longer than the launch of a separate kernel."""
UNCORRECTED = 1e9
"""Number of updates after which Adam's bias correction is a factor of exactly 1."""


def schedule(step: int, total: int, warmup: float) -> float:
    """Return the share of the peak learning rate at `step` (from 0) of `total` (gu2020 section 6.2). The
    slanted triangle: a linear rise over the first `warmup` share of the steps, then a linear fall to zero.
    The rise may end between two steps; the fall begins at the step after it."""
    part, whole = triangle(step, total, warmup * total, warmup * total)
    return part / whole


class GroupedAdam:
    """Adam over a task model, in float16 with a scaled loss; biases and layer norms have no weight decay.
    Frozen parameters are left out: they are neither clipped with the others nor decayed."""

    def __init__(self, model: TaskModel, recipe: FinetuningRecipe, precision: str = "float32") -> None:
        self.recipe = recipe
        self.scaling = LossScaling(precision, next(model.parameters()).device)
        groups: dict[tuple[int, bool], dict[str, Any]] = {}
        below = _decay_exponents(model) if recipe.layerwise_decay != 1 else {}
        for parameter in (one for one in model.parameters() if one.requires_grad):
            exponent, matrix = below.get(parameter, 0), parameter.ndim > 1
            group = groups.setdefault((exponent, matrix), {"params": []})
            group["params"].append(parameter)
            group["share"] = recipe.layerwise_decay**exponent  # of the recipe's learning rate
            group["decay"] = recipe.weight_decay if matrix else 0.0
        self.parameters = [parameter for group in groups.values() for parameter in group["params"]]
        self.adam = OPTIMISERS["adamw"].make(
            [*groups.values()], betas=(BETA1, BETA2), eps=recipe.adam_epsilon
        )

    def schedule(self, step: int, total: int) -> None:
        """Set the rates of step number `step` (from 0) of `total`; skipped ones do not count."""
        step -= self.scaling.skipped
        rate = self.recipe.learning_rate * schedule(step, total, self.recipe.warmup)
        for group in self.adam.param_groups:
            group["lr"], group["weight_decay"] = rate * group["share"], group["decay"]
            if not self.recipe.bias_correction:
                # BERT's update is lr * m / (sqrt(v) + epsilon) (Devlin et al. 2019; Mosbach et al. 2021),
                # PyTorch's lr / c1 * m / (sqrt(v) / sqrt(c2) + epsilon), with c = 1 - beta ** update. Weights
                # shrink by lr * weight decay in both. Without the correction, the first updates are larger.
                first, second = 1 - BETA1 ** (step + 1), math.sqrt(1 - BETA2 ** (step + 1))
                group["lr"] *= first / second
                group["weight_decay"] *= second / first
                group["eps"] = self.recipe.adam_epsilon / second

    def finish(self, place: Place) -> bool:
        """Keep the gradients of a part, and update the weights after the last one; return whether they were
        updated, or need not be yet."""
        if place != "only":
            self.add_gradients()
        return place == "not last" or self.update()

    def update(self) -> bool:
        """Clip the gradients, update the weights, and clear the gradients; return whether the weights were
        updated, which they are not if float16 has overflowed."""
        self.scaling.unscale(self.adam)
        torch.nn.utils.clip_grad_norm_(self.parameters, self.recipe.max_gradient_norm, foreach=True)
        updated = self.scaling.step(self.adam)
        self.clear()
        return updated

    def add_gradients(self) -> None:
        """Do nothing: PyTorch itself adds up the gradients of a batch's parts."""

    def clear(self) -> None:
        self.adam.zero_grad()


def _decay_exponents(model: TaskModel) -> dict[nn.Parameter, int]:
    """Return the exponent of `layerwise_decay` for each encoder parameter, as in ELECTRA's code (Clark et al.
    2020). The head has 0 (the full rate), the top one of n layers 2, the lowest n + 1, and the embeddings n +
    2. Modules that some encoders have between top layer and head (a last norm) have 1."""
    stack = layers(model.encoder)
    exponents = dict.fromkeys(model.encoder.parameters(), 1)
    for depth, layer in enumerate(stack):
        exponents.update(dict.fromkeys(layer.parameters(), len(stack) + 1 - depth))
    for module in embeddings(model.encoder):
        exponents.update(dict.fromkeys(module.parameters(), len(stack) + 2))
    return exponents


def factors_of(rate: float, decay: float, update: int | None, epsilon: float) -> list[float]:
    """Return learning rate, learning rate x decay, step size, divisor of the second moment's root, and
    epsilon. `update`: number of the update, from 1; None: Adam without bias correction."""
    first, second = (1.0, 1.0) if update is None else (1 - BETA1**update, 1 - BETA2**update)
    return [rate, rate * decay, rate / first, second**0.5, epsilon]


@torch.no_grad()
def plain_update(
    grad: Tensor, weight: Tensor, mean: Tensor, square: Tensor, copied: Tensor, factors: Tensor, scale: Tensor
) -> None:
    """Update a weight by Adam with PyTorch's kernels, and copy it; the reference for the compiled kernel."""
    slope = grad.float() / scale
    mean.lerp_(slope, 1 - BETA1)
    square.mul_(BETA2).addcmul_(slope, slope, value=1 - BETA2)
    weight.sub_(factors[1] * weight)
    weight.sub_(factors[2] * mean / (square.sqrt() / factors[3] + factors[4]))
    copied.copy_(weight)


def compile_update(device: torch.device) -> tuple[Update | None, str | None]:
    """Return the compiled kernel, or None and why it does not work on the device."""
    try:
        from pubmill.finetuning.update_kernel import compiled_update

        check_update(compiled_update, device)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # whatever a compiler, or its absence, raises
        refused = fault_of_kernels(error)
        report_slower(f"the weight update cannot be compiled ({refused}); PyTorch's own kernels are used")
        return None, refused
    return compiled_update, None


def check_update(update: Update, device: torch.device) -> None:
    """Compile the update for all types of gradients; raise a RuntimeError if it is not `plain_update`."""
    for dtype in (torch.bfloat16, torch.float32):
        found, expected = _example(dtype, device), _example(dtype, device)
        update(*found)
        plain_update(*expected)
        close = []  # equal but for rounding, to that of bfloat16 in copies; False for NaN
        for one, other in zip(found, expected, strict=True):
            part = 1e-2 if one.dtype == torch.bfloat16 else 1e-5
            close.append(((one - other).abs() <= 1e-6 + part * other.abs()).all())
        if not torch.stack(close).all():
            raise RuntimeError("it gives other numbers than PyTorch's kernels")


def _example(dtype: torch.dtype, device: torch.device) -> Sequence[Tensor]:
    """Return arguments of an update, without drawing random numbers."""
    values = torch.linspace(-1.0, 1.0, CHECKED, device=device)
    factors = torch.tensor(factors_of(1e-3, 0.1, 3, 1e-6), device=device)
    copied, scale = torch.zeros_like(values, dtype=torch.bfloat16), torch.full((), 1.5, device=device)
    return values.roll(7).to(dtype), values.clone(), values / 3, values**2, copied, factors, scale


def working_copy(model: TaskModel, dtype: torch.dtype) -> TaskModel:
    """Return the model with a copy of its encoder, whose weights are of another type, and the same head.
    Buffers are shared, as they are constants; those of rotary positions need float32."""
    memo: dict[int, Any] = {id(buffer): buffer for buffer in model.encoder.buffers()}
    for weight in model.encoder.parameters():
        memo[id(weight)] = nn.Parameter(weight.detach().to(dtype, copy=True), weight.requires_grad)
    return TaskModel(copy.deepcopy(model.encoder, memo=memo), model.head)


def refresh(working: TaskModel, model: TaskModel) -> None:
    _copy(list(working.encoder.parameters()), list(model.encoder.parameters()))


@torch.no_grad()
def _copy(to: list[Any], source: list[Any]) -> None:
    """Copy tensors, converted, with a few kernels."""
    if to:
        torch._foreach_copy_(to, source)


@dataclass(frozen=True)
class LargeWeight:
    """A weight with a kernel of its own: its place among the groups, its copy and its moments."""

    weight: nn.Parameter
    copied: nn.Parameter
    group: int
    mean: Tensor
    square: Tensor


class RecordableAdam(GroupedAdam):
    """Adam for a model whose gradients come from its working copy; an update reads no value from the host.

    A CUDA graph can therefore record `update`: the rates are tensors that `schedule` fills, and without bias
    correction, the state begins at `UNCORRECTED` updates. Gradients of the head stay at their place in
    memory. Large weights are updated by `kernel`, if there is one, and all others by PyTorch's Adam.
    """

    def __init__(
        self, model: TaskModel, recipe: FinetuningRecipe, working: TaskModel, kernel: Update | None = None
    ) -> None:
        super().__init__(model, recipe)
        self.model, self.working, self.kernel = model, working, kernel
        groups = self.adam.param_groups
        width, device = len(factors_of(0, 0, None, 0)), self.parameters[0].device
        self.factors = torch.zeros(len(groups), width, device=device)
        for group, rate in zip(groups, self.factors[:, 0].unbind(), strict=True):
            group.update(lr=rate, weight_decay=group["decay"], capturable=rate.is_cuda)
        for parameter in model.head.parameters():
            parameter.grad = torch.zeros_like(parameter)
        pairs = zip(working.encoder.parameters(), model.encoder.parameters(), strict=True)
        self.copies = {weight: copied for copied, weight in pairs if weight.requires_grad}
        self.large = _take_large(groups, self.copies) if kernel else []
        self.adds = False
        large = {one.weight for one in self.large}
        self.small = [weight for weight in self.copies if weight not in large]
        if not recipe.bias_correction:
            for one in (parameter for group in groups for parameter in group["params"]):
                # As after so many updates that the correction is 1.
                moments = {name: torch.zeros_like(one) for name in ("exp_avg", "exp_avg_sq")}
                self.adam.state[one] = {"step": one.new_full((), UNCORRECTED), **moments}

    def schedule(self, step: int, total: int) -> None:
        rate = self.recipe.learning_rate * schedule(step, total, self.recipe.warmup)
        update, epsilon = step + 1 if self.recipe.bias_correction else None, self.recipe.adam_epsilon
        groups = self.adam.param_groups
        rows = [factors_of(rate * group["share"], group["decay"], update, epsilon) for group in groups]
        self.factors.copy_(to_device(torch.tensor(rows), self.factors.device))

    def update(self) -> bool:
        """Clip the gradients inside Adam's own kernels, update the weights, and clear the gradients."""
        learnt = self._take_gradients()
        norm = torch.nn.utils.get_total_norm(list(learnt.values()), foreach=True)
        # As clip_grad_norm_ does, which would read and write all gradients once more.
        scale = ((norm + 1e-6) / self.recipe.max_gradient_norm).clamp(min=1)
        self.adam.grad_scale = scale
        for one in self.large:
            if one.weight in learnt and self.kernel:
                tensors = one.weight, one.mean, one.square, one.copied, self.factors[one.group]
                self.kernel(learnt[one.weight], *tensors, scale)
        self.adam.step()
        self.clear()
        _copy([self.copies[weight] for weight in self.small], self.small)
        return True

    def clear(self) -> None:
        self.working.encoder.zero_grad()
        self.model.encoder.zero_grad(set_to_none=not self.adds)
        self.model.head.zero_grad(set_to_none=False)

    def add_gradients(self) -> None:
        """Move the gradients of the working copy to the model, in float32, where they now stay at their place
        in memory, because recorded parts add to them."""
        self.adds = True
        self._move_gradients(list(self.copies))
        self.working.encoder.zero_grad()

    def _move_gradients(self, weights: Sequence[nn.Parameter]) -> None:
        """Add the gradients of these weights' copies to those of the weights, in float32."""
        learnt = [weight for weight in weights if self.copies[weight].grad is not None]
        first = [weight for weight in learnt if weight.grad is None]
        further = [weight for weight in learnt if weight.grad is not None]
        for weight in first:
            weight.grad = torch.empty_like(weight)
        _copy([weight.grad for weight in first], [self.copies[weight].grad for weight in first])
        if further:
            sums: list[Any] = [weight.grad for weight in further]
            added: list[Any] = [self.copies[weight].grad for weight in further]
            torch._foreach_add_(sums, added)

    def _take_gradients(self) -> dict[nn.Parameter, Tensor]:
        """Pass the gradients to PyTorch's Adam; return the gradient of each weight. They are the working
        copy's, unless the model already has the sums over all parts of the batch."""
        copies = self.copies.items()
        gradients = {weight: copied.grad for weight, copied in copies if copied.grad is not None}
        if not gradients:
            return {weight: weight.grad for weight in self.parameters if weight.grad is not None}
        self._move_gradients(self.small)
        heads = {weight: weight.grad for weight in self.model.head.parameters() if weight.grad is not None}
        return {**gradients, **heads}


def _take_large(groups: list[dict[str, Any]], copies: dict[nn.Parameter, nn.Parameter]) -> list[LargeWeight]:
    """Remove large weights with copies from the groups of PyTorch's Adam; return them."""
    taken = []
    for number, group in enumerate(groups):
        rest = []
        for weight in group["params"]:
            size, copied = weight.numel(), copies.get(weight)
            adjacent = copied is not None and weight.is_contiguous() and copied.is_contiguous()
            suits = adjacent and size >= LARGE and size % MULTIPLE == 0
            if copied is not None and suits and copied.dtype == torch.bfloat16:
                mean, square = (torch.zeros_like(weight, requires_grad=False) for _ in range(2))
                taken.append(LargeWeight(weight, copied, number, mean, square))
            else:
                rest.append(weight)
        group["params"] = rest
    return taken
