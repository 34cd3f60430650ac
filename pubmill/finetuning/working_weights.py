"""Working copy of a task model in bfloat16, and the update of the float32 weights that it was made from."""

import copy
from typing import Any

import torch
from torch import nn

from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.parameter_groups import GroupedAdam, schedule
from pubmill.hardware.torch_setup import to_device
from pubmill.recipes import FinetuningRecipe

UNCORRECTED = 1e9
"""Number of updates after which Adam's bias correction is a factor of exactly 1."""


def working_copy(model: TaskModel, dtype: torch.dtype) -> TaskModel:
    """Return the model with a copy of its encoder, whose weights are of another type, and the same head.

    Buffers are shared, as they are constants; those of rotary positions need float32.
    """
    memo: dict[int, Any] = {id(buffer): buffer for buffer in model.encoder.buffers()}
    for weight in model.encoder.parameters():
        memo[id(weight)] = nn.Parameter(weight.detach().to(dtype, copy=True), weight.requires_grad)
    return TaskModel(copy.deepcopy(model.encoder, memo=memo), model.head)


def refresh(working: TaskModel, model: TaskModel) -> None:
    """Copy the model's weights into its working copy."""
    pairs = zip(working.encoder.parameters(), model.encoder.parameters(), strict=True)
    copies, weights = zip(*pairs, strict=True)
    with torch.no_grad():
        torch._foreach_copy_(copies, weights)


class RecordableAdam(GroupedAdam):
    """Adam on a model whose gradients are those of its working copy, without any value from the host.

    A CUDA graph can therefore record `update`: the rates are tensors that `schedule` fills, and Adam without
    bias correction is Adam after very many updates. Gradients of the head stay at their place in memory.
    """

    def __init__(self, model: TaskModel, recipe: FinetuningRecipe, working: TaskModel) -> None:
        super().__init__(model, recipe)
        self.model, self.working = model, working
        groups = self.adam.param_groups
        self.rates = torch.zeros(len(groups), device=self.parameters[0].device)
        for group, rate in zip(groups, self.rates.unbind(), strict=True):
            group.update(lr=rate, weight_decay=group["decay"], capturable=self.rates.is_cuda)
        for parameter in model.head.parameters():
            parameter.grad = torch.zeros_like(parameter)
        if not recipe.bias_correction:
            self.adam.state.update({parameter: _uncorrected(parameter) for parameter in self.parameters})

    def schedule(self, step: int, total: int) -> None:
        rate = self.recipe.learning_rate * schedule(step, total, self.recipe.warmup)
        rates = torch.tensor([rate * group["share"] for group in self.adam.param_groups])
        self.rates.copy_(to_device(rates, self.rates.device))

    def update(self) -> bool:
        """Clip the gradients inside Adam's own kernel, update the weights, and clear the gradients."""
        learnt = self._take_gradients()
        norm = torch.nn.utils.get_total_norm(learnt, foreach=True)
        # As clip_grad_norm_ does, which would read and write all gradients once more.
        self.adam.grad_scale = ((norm + 1e-6) / self.recipe.max_gradient_norm).clamp(min=1)
        self.adam.step()
        self.clear()
        refresh(self.working, self.model)
        return True

    def clear(self) -> None:
        self.working.encoder.zero_grad()
        self.model.encoder.zero_grad()
        self.model.head.zero_grad(set_to_none=False)

    def add_gradients(self) -> None:
        """Move the gradients of the working copy to the model, in float32."""
        pairs = zip(self.working.encoder.parameters(), self.model.encoder.parameters(), strict=True)
        learnt = [(weight, copied.grad) for copied, weight in pairs if copied.grad is not None]
        gradients = [torch.empty_like(weight) for weight, _ in learnt]
        if learnt:
            torch._foreach_copy_(gradients, [found for _, found in learnt])
        for (weight, _), gradient in zip(learnt, gradients, strict=True):
            weight.grad = gradient if weight.grad is None else weight.grad.add_(gradient)
        self.working.encoder.zero_grad()

    def _take_gradients(self) -> list[torch.Tensor]:
        """Give the model the gradients of its working copy; return them and those of the head."""
        found = [copied.grad for copied in self.working.encoder.parameters() if copied.grad is not None]
        if not found:  # The model has those of all parts of the batch.
            return [weight.grad for weight in self.parameters if weight.grad is not None]
        self.add_gradients()
        heads = [weight.grad for weight in self.model.head.parameters() if weight.grad is not None]
        return [*found, *heads]


def _uncorrected(parameter: nn.Parameter) -> dict[str, torch.Tensor]:
    """Return the state of Adam after so many updates that its bias correction is 1."""
    return {
        "step": torch.full((), UNCORRECTED, device=parameter.device),
        "exp_avg": torch.zeros_like(parameter),
        "exp_avg_sq": torch.zeros_like(parameter),
    }
