"""Predictions of a task model that was just trained or kept from an earlier run."""

from contextlib import AbstractContextManager
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from pubmill.finetuning.batch_sampling import prediction_batches
from pubmill.finetuning.encoders import has_segments, longest_input
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.splits import Split
from pubmill.finetuning.tasks.task import Task
from pubmill.hardware.gpu_claims import take_gpu
from pubmill.hardware.precision import choose_precision
from pubmill.hardware.torch_setup import configure_cuda, gpu_is_used
from pubmill.recipes import FinetuningRecipe

PREDICTION_TOKENS = 4096
"""Padded tokens per prediction batch; larger batches are not faster."""


class DivergenceError(Exception):
    """The loss or a prediction is NaN or infinite."""


def choose_device() -> torch.device:
    """Return a GPU, with deterministic kernels where they exist, or the CPU if there is no GPU.

    Raises a `PubmillError` for a GPU that PyTorch cannot use.
    """
    if not gpu_is_used():
        return torch.device("cpu")
    configure_cuda(deterministic=True)
    return take_gpu()


def make_reader(
    recipe: FinetuningRecipe, tokenizer: PreTrainedTokenizerBase, encoder: PreTrainedModel
) -> Reader:
    """Return the reader for an encoder, which may be shorter than the recipe allows."""
    segments = recipe.segments if has_segments(encoder) else "none"
    return Reader(tokenizer, min(recipe.max_length, longest_input(encoder)), segments)


class Predictor:
    """A task and its model, on the model's device and in the recipe's precision."""

    def __init__(self, recipe: FinetuningRecipe, task: Task[Any], model: TaskModel) -> None:
        self.recipe, self.task, self.model = recipe, task, model
        self.device = next(model.parameters()).device
        self.precision = choose_precision(recipe.precision, self.device)

    @torch.inference_mode()
    def predict(self, split: Split) -> list[Any]:
        """Return the prediction for every example; `DivergenceError` if a score is not finite."""
        self.model.eval()
        instances = split.encoded.instances
        outputs: list[torch.Tensor] = [torch.empty(0)] * len(instances)
        finite = torch.ones((), dtype=torch.bool, device=self.device)
        for indices in prediction_batches(split.lengths, PREDICTION_TOKENS):
            batch = collate([instances[index] for index in indices], self.task.reader.pad, self.device)
            with self._autocast():
                scores = self.model(batch)
            # Read once after the loop: each read makes a GPU wait.
            finite &= torch.isfinite(scores).all()
            for index, output in zip(indices, self.task.outputs(self.model, scores, batch), strict=True):
                outputs[index] = output
        if not finite:
            raise DivergenceError
        return self.task.predictions(split.examples, instances, outputs)

    def _autocast(self) -> AbstractContextManager[None]:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16")
