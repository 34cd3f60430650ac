"""Predictions of a task model, just trained or kept from an earlier run, and how a device computes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from pubmill.errors import PubmillError
from pubmill.finetuning import encoders
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import Batch, EncodedSplit, Instance, collate, prediction_batches
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.relations import written_tokens
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.weight_updates import working_copy
from pubmill.hardware.torch_setup import autocast, choose_precision, configure_cuda, emptiest_gpu, gpu_is_used
from pubmill.recipes.finetuning import FinetuningRecipe, Weights, most_tokens
from pubmill.storage.encoder_checks import check_ids, is_causal

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Output = Callable[[torch.nn.Module, Tensor, Batch], Tensor]
"""A function of the model, a batch's scores and the batch that returns values for each instance."""


class DivergenceError(Exception):
    """The loss or a prediction is NaN or infinite."""


def choose_device() -> torch.device:
    """Return the GPU with most free memory, configured as `configure_cuda` defines, or the CPU if there is no
    GPU. Raises a `PubmillError` for a GPU that PyTorch cannot use."""
    if not gpu_is_used():
        return torch.device("cpu")
    configure_cuda(deterministic=True)
    device = emptiest_gpu()
    torch.cuda.set_device(device)  # So that plain "cuda" means this GPU.
    return device


def make_reader(
    recipe: FinetuningRecipe, tokenizer: "PreTrainedTokenizerBase", encoder: "PreTrainedModel"
) -> Reader:
    """Return the reader for an encoder, with the smaller of the recipe's and the encoder's maximum length.
    Raises a `PubmillError` if the recipe leaves the length to an encoder whose positions have no limit."""
    segments = recipe.segments if encoders.has_segments(encoder) else "none"
    longest = encoders.longest_input(encoder)
    if recipe.max_length is None and longest == encoders.UNLIMITED:
        raise PubmillError(
            f"max_length: null takes the encoder's limit, but {encoder.config.model_type} has none; "
            "set max_length to a number of subwords"
        )
    length = min(recipe.max_length or longest, longest)
    length = min(length, encoders.fixed_width(encoder, length) or length)
    rows: Any = encoder.get_input_embeddings()
    check_ids(tokenizer, len(rows.weight), tokenizer.name_or_path)
    marks = written_tokens(recipe)
    return Reader(tokenizer, length, segments, recipe.words, is_causal(encoder.config), marks)


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How encoder and update are computed.

    `weights`: precision of the weights that the encoder computes with; the optimiser's are float32.
    Steps with bfloat16 of a shape seen before are replayed as CUDA graphs. `width`: batches are padded to a
    multiple of it. `part_cost`: padded tokens that take as long as the work of a part of a batch that does
    not depend on its size: reading the weights and adding their gradients. `part_sizes`: number of sizes that
    parts may have, of which each is recorded; None: any. `prediction_tokens`: padded tokens per prediction
    batch.
    """

    weights: Weights = "float32"
    width: int = 1
    part_cost: int = 128
    part_sizes: int | None = None
    prediction_tokens: int = 4096  # on a processor, larger batches are not faster


PLAIN = Execution()
ON_GPU = Execution(width=8, part_cost=1024, part_sizes=4, prediction_tokens=32_768)
ON_TENSOR_CORES = replace(ON_GPU, weights="bfloat16", width=16)


def choose_execution(device: torch.device, precision: str) -> Execution:
    """Return the fastest execution for a device and precision. Only GPUs that compute in bfloat16 use a copy
    of the weights and CUDA graphs; others compute step by step with the optimiser's weights, like processors.
    In float16, for example, scaled losses make an update depend on values on the host."""
    if device.type != "cuda":
        return PLAIN
    return ON_TENSOR_CORES if precision == "bfloat16" else ON_GPU


def tokens_at_once(encoder: "PreTrainedModel", device: torch.device, execution: Execution) -> int | None:
    """Return the padded tokens that a GPU can compute at once; None for a processor, which has no limit."""
    if device.type != "cuda":
        return None
    config = encoders.stack_config(encoder)
    memory = torch.cuda.get_device_properties(device).total_memory
    return most_tokens(memory, config.num_hidden_layers, config.hidden_size, execution.weights)


class Predictor:
    """A task and its model, on the model's device and in the recipe's precision. `working` is the model that
    computes: the model itself, or its copy in bfloat16 on a GPU that has it."""

    def __init__(self, recipe: FinetuningRecipe, task: Task[Any], model: TaskModel) -> None:
        self.recipe, self.task, self.model = recipe, task, model
        self.device = next(model.parameters()).device
        wanted = encoders.possible_precision(model.encoder.config, recipe.precision)
        self.precision = choose_precision(wanted, self.device)
        self.fixed_width = encoders.fixed_width(model.encoder, task.reader.max_length)
        self.longest_input = encoders.longest_input(model.encoder)
        self.execution = choose_execution(self.device, self.precision)
        self.working = model
        if self.execution.weights == "bfloat16":
            self.working = working_copy(model, torch.bfloat16)

    @torch.inference_mode()
    def predict(self, split: EncodedSplit) -> list[Any]:
        """Return the prediction for every example; `DivergenceError` if a score is not finite."""
        [outputs] = self._outputs(split, self.task.output)
        return self.task.predictions(split.examples, split.encoded.instances, outputs)

    @torch.inference_mode()
    def predict_with_confidences(self, split: EncodedSplit) -> list[tuple[Any, Any]]:
        """Return the prediction for every example, and the confidence in it; a `PubmillError` if the task has
        no probabilities."""
        instances = split.encoded.instances
        outputs, probabilities = self._outputs(split, self.task.output, self.task.probabilities)
        predictions = self.task.predictions(split.examples, instances, outputs)
        confidences = self.task.confidences(split.examples, instances, probabilities)
        return list(zip(predictions, confidences, strict=True))

    def _outputs(self, split: EncodedSplit, *kinds: Output) -> list[list[Tensor]]:
        """Return the outputs of each kind, by instance, from one pass over the split."""
        self.working.eval()
        instances = split.encoded.instances
        order: list[int] = []
        sizes: list[int] = []
        outputs: list[list[Tensor]] = [[] for _ in kinds]
        finite = torch.ones((), dtype=torch.bool, device=self.device)
        for indices in prediction_batches(split.lengths, self.execution.prediction_tokens):
            batch = self._batch([instances[index] for index in indices])
            with autocast(self.device, self.precision):
                scores = self.working(batch)
            finite &= torch.isfinite(scores).all()
            for kind, of_kind in zip(kinds, outputs, strict=True):
                of_kind.append(kind(self.working, scores, batch))
            order += indices
            sizes += self.task.sizes(batch)
        places = np.argsort(order)  # in the order of the split
        rows = [torch.split(_read(of_kind, finite), sizes) for of_kind in outputs]
        return [[of_kind[place] for place in places] for of_kind in rows]

    def _batch(self, instances: Sequence[Instance], every: bool = False) -> Batch:
        """Pad instances to a width that suits the device and the encoder; `every`: read every position."""
        width = self._width(max(len(instance.ids) for instance in instances))
        return collate(instances, self.task.reader.pad, self.device, width, every)

    def _width(self, longest: int) -> int:
        if self.fixed_width:
            return self.fixed_width
        width = -(-longest // self.execution.width) * self.execution.width
        return min(width, max(longest, self.longest_input))


def _read(outputs: Sequence[Tensor], finite: Tensor) -> Tensor:
    """Return the outputs of all batches, one after another, on the CPU; `DivergenceError` if not `finite`.
    All of them and the flag are read at once, because each read makes a GPU wait."""
    if not outputs:
        return torch.empty(0)
    flat = [output.flatten() for output in outputs]
    values = torch.cat([*flat, finite.to(flat[0].dtype).view(1)]).cpu()
    if not values[-1]:
        raise DivergenceError
    return values[:-1].view(-1, *outputs[0].shape[1:])
