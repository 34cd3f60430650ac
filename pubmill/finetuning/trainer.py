"""Fine-tuning loop: steps, evaluations on dev and predictions, the same for every task."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pubmill.finetuning import inputs
from pubmill.finetuning.encoders import uses_blocks
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import Batch, EncodedSplit
from pubmill.finetuning.lasting_errors import MachineError
from pubmill.finetuning.predicting import DivergenceError, Predictor, tokens_at_once
from pubmill.finetuning.recorded_steps import RecordedSteps, Recorder, cuda_recorder
from pubmill.finetuning.tasks.task import IGNORED, Task
from pubmill.finetuning.weight_updates import (
    GroupedAdam,
    Place,
    RecordableAdam,
    Update,
    compile_update,
    refresh,
)
from pubmill.hardware.torch_setup import autocast, cuda_settings, to_device
from pubmill.messages.progress import report_progress
from pubmill.recipes import FinetuningRecipe

REPORT_SECONDS = 5.0
BLOCK_COST = 16
"""Padded tokens that take as long as one more block of attention."""
CHECK_STEPS = 50
"""Steps between checks of the loss; each check makes a GPU wait."""


@dataclass(kw_only=True)
class FinetuningProgress:
    """Progress of training; `dev`: (step, score) of each evaluation; `losses`: the mean of each epoch."""

    losses: list[float] = field(default_factory=list)
    dev: list[tuple[int, float]] = field(default_factory=list)
    steps: int = 0
    steps_per_epoch: int = 0
    tokens: int = 0
    seconds: float = 0.0
    diverged: bool = False
    best: tuple[int, float] | None = None
    best_weights: dict[str, Tensor] = field(default_factory=dict)


class Trainer(Predictor):
    """A fine-tuning in progress: a predictor and its training data, optimiser and progress."""

    def __init__(self, recipe: FinetuningRecipe, task: Task[Any], model: TaskModel, seed: int) -> None:
        super().__init__(recipe, task, model)
        self.seed = seed
        self.optimiser = GroupedAdam(model, recipe, self.precision)
        self.at_once = tokens_at_once(model.encoder, self.device, self.execution)
        self.most_parts = 1
        self.recorded: RecordedSteps | None = None
        self.every = False
        self.update_refused: str | None = None
        if self.working is not model:
            kernel, self.update_refused = compile_update(self.device)
            self.record(cuda_recorder(), kernel)

    def record(self, recorder: Recorder, kernel: Update | None = None) -> None:
        """Prepare updates of the working copy, with `kernel` for its large weights, and recorded steps."""
        adam = RecordableAdam(self.model, self.recipe, self.working, kernel)
        self.optimiser, places = adam, self.task.fixed_places
        self.every = places == "every"
        # Not a method: its reference to the trainer would keep a GPU's memory until garbage is collected.
        loss = partial(loss_of, self.task, self.working, self.precision)
        self.recorded = RecordedSteps(self.working, loss, adam, recorder, whole=places is not None)

    def describe_execution(self) -> dict[str, Any]:
        """Return device, threads and precision for the records of a run; in float16 also the scale of the
        loss and the number of skipped steps. On a GPU also how it computed: `graphs`: number of shapes whose
        parts of steps were replayed; `update`: "compiled" if large weights were updated by the compiled
        kernel; `parts`: most parts in which a batch was computed."""
        described: dict[str, Any] = {}
        if self.device.type == "cuda":
            recorded = self.recorded
            compiled = isinstance(self.optimiser, RecordableAdam) and self.optimiser.kernel is not None
            described = {
                **asdict(self.execution),
                "graphs": recorded.shapes if recorded else 0,
                "graphs_per_step": recorded.graphs if recorded else 0,
                "graphs_refused": recorded.refused if recorded else None,
                "update": "compiled" if compiled else "plain",
                "update_refused": self.update_refused,
                "parts": self.most_parts,
            }
        described |= {"device": self.device.type, "threads": torch.get_num_threads()}
        described |= {"precision": self.precision, **cuda_settings(self.device)}
        if scaling := self.optimiser.scaling.state():
            described["loss_scaling"] = scaling
        return described

    def train(
        self, train: EncodedSplit, dev: EncodedSplit | None, passes: float | None = None
    ) -> FinetuningProgress:
        """Train for all epochs, until the recipe's `stop_after`, or for `passes` over the data.

        The learning-rate schedule is always that of all epochs. Training ends with the weights that the
        recipe keeps: the last ones, or the best ones on dev (the first of equals). It stops early, with
        `diverged` set, if a loss or prediction is NaN or infinite; the weights are then unusable.
        """
        per_epoch = len(self.epoch_batches(train, 0))
        progress = FinetuningProgress(steps_per_epoch=per_epoch)
        total = per_epoch * self.recipe.epochs
        wanted = max(1, round(passes * per_epoch)) if passes else self.recipe.stop_after
        last = min(total, wanted or total)
        every = self.recipe.evaluate_every or per_epoch
        try:
            for _ in self._run_steps(train, progress, total, last):
                due = progress.steps % every == 0 or progress.steps == last
                if self.recipe.keep == "best" and dev and due:
                    self._score_dev(dev, progress, last)
            if self.recipe.keep == "last" and dev:
                self._score_dev(dev, progress, last)
        except (DivergenceError, FloatingPointError):
            progress.diverged = True
            return progress
        if progress.best_weights:
            self.model.load_state_dict(progress.best_weights)
            if self.working is not self.model:
                refresh(self.working, self.model)
        return progress

    def _score_dev(self, dev: EncodedSplit, progress: FinetuningProgress, last: int) -> None:
        """Score dev; remember the weights if they are the best so far and the recipe keeps the best."""
        score = self.task.dev_score(dev.examples, self.predict(dev))
        progress.dev.append((progress.steps, score))
        report_progress(f"step {progress.steps}/{last}: dev {self.recipe.metric} {score:.4f}")
        if progress.best is None or score > progress.best[1]:
            progress.best = (progress.steps, score)
            if self.recipe.keep == "best":
                weights = self.model.state_dict()
                progress.best_weights = {name: value.detach().clone() for name, value in weights.items()}

    def _run_steps(
        self, train: EncodedSplit, progress: FinetuningProgress, total: int, last: int
    ) -> Iterator[None]:
        """Make one step after another; yield after each."""
        lengths = train.lengths
        losses = torch.zeros((), device=self.device)
        reported = 0.0
        while progress.steps < last:
            number = 0
            for indices in self.epoch_batches(train, len(progress.losses)):
                started = time.monotonic()
                self.working.train()
                loss = self.update(train, indices, progress.steps, total)
                if loss is not None:
                    losses += loss
                    number += 1
                progress.steps += 1
                progress.tokens += sum(lengths[i] for i in indices)
                looks = progress.steps % CHECK_STEPS == 0 or progress.steps == last
                if looks and not torch.isfinite(losses):
                    raise DivergenceError
                progress.seconds += time.monotonic() - started
                if progress.seconds - reported > REPORT_SECONDS:
                    reported = progress.seconds
                    left = progress.seconds / progress.steps * (last - progress.steps)
                    so_far = losses.item() / max(1, number)
                    report_progress(f"step {progress.steps}/{last}: loss {so_far:.4f}, {left:.0f} s left")
                yield
                if progress.steps == last:
                    break
            mean = losses.item() / number if number else math.nan
            if not math.isfinite(mean):
                raise DivergenceError
            progress.losses.append(mean)
            losses.zero_()

    def epoch_batches(self, train: EncodedSplit, epoch: int) -> list[list[int]]:
        # With `oversample`, all classes are equally frequent.
        classes = [int(target) for [target] in train.targets] if self.recipe.oversample else None
        number, size = len(train.encoded.instances), self.recipe.batch_size
        return inputs.training_batches(number, size, self.seed, epoch, classes)

    def update(self, train: EncodedSplit, indices: Sequence[int], step: int, total: int) -> Tensor | None:
        """Make one update with one batch; return its loss. In float16, the update may be skipped; the result
        is None if the loss had overflowed too.

        If a GPU's memory is too small for a part of the batch, all is repeated with smaller parts. The loss
        is a mean over the batch, so results change only by rounding (and dropout, which is drawn again).
        """
        self.optimiser.schedule(step, total)
        while True:
            parts = self._parts(train.lengths, indices)
            self.most_parts = max(self.most_parts, len(parts))
            try:
                return self._learn(train, parts)
            except torch.OutOfMemoryError:
                pass
            # Outside of the handler, as the error's traceback keeps the tensors of the part alive.
            self.optimiser.clear()
            self._halve_parts(train.lengths, parts)
            torch.cuda.empty_cache()

    @property
    def _in_blocks(self) -> bool:
        """Whether the parts of a batch are computed together. A recorded step would have too many shapes."""
        return uses_blocks(self.working.encoder) and self.recorded is None

    def _parts(self, lengths: Sequence[int], indices: Sequence[int]) -> list[list[int]]:
        """Divide a batch into parts of inputs of similar lengths, which the device can compute at once."""
        ordered = sorted(indices, key=lengths.__getitem__)
        widths = [self._width(lengths[index]) for index in ordered]
        how = self.execution
        step = -(-self.recipe.batch_size // how.part_sizes) if how.part_sizes else 1
        parts, begin = list[list[int]](), 0
        for end in inputs.ends_of_parts(widths, BLOCK_COST if self._in_blocks else how.part_cost, step):
            size = max(1, self.at_once // widths[end - 1]) if self.at_once else end - begin
            parts += [ordered[first : min(first + size, end)] for first in range(begin, end, size)]
            begin = end
        return parts

    def _halve_parts(self, lengths: Sequence[int], parts: Sequence[Sequence[int]]) -> None:
        """Halve the largest part from now on; raise a `MachineError` if it is a single input."""
        sizes = [(len(part) * self._width(lengths[part[-1]]), len(part), lengths[part[-1]]) for part in parts]
        tokens, size, longest = max(sizes)
        fault = f"the GPU has too little memory for {size} inputs of up to {longest} tokens at once"
        if size == 1:
            raise MachineError(f"{fault}; take a GPU with more memory, or fewer runs per GPU")
        self.at_once = tokens // size * (size // 2)
        report_progress(f"{fault}; continuing with {size // 2} at once")

    def _learn(self, train: EncodedSplit, parts: Sequence[Sequence[int]]) -> Tensor | None:
        """Make an update with a batch, part by part; return its loss, the mean over all of its targets. The
        result is None if an infinite loss prevented the update."""
        made = [self._training_batch(train, part) for part in parts]
        counts = [sum(len(train.targets[index]) for index in part) for part in parts]
        if self._in_blocks:
            batches, of_batches = zip(*made, strict=True)
            made, counts = [(inputs.joined(batches), torch.cat(of_batches))], [sum(counts)]
        losses, updated = list[Tensor](), True
        before_last: list[Place] = ["not last"] * (len(made) - 1)
        places: list[Place] = [*before_last, "last"] if before_last else ["only"]
        for (batch, targets), count, place in zip(made, counts, places, strict=True):
            share = count / sum(counts)
            if recorded := self.recorded.find(batch, targets, place) if self.recorded else None:
                losses.append(recorded(batch, targets, share))
                continue
            with autocast(self.device, self.precision):
                encodings = self.working.encode(batch.inputs, batch.blocks)
            loss = loss_of(self.task, self.working, self.precision, encodings, batch, targets) * share
            self.optimiser.scaling.backward(loss)
            updated = self.optimiser.finish(place)
            losses.append(loss.detach())
        whole = sum(losses[1:], losses[0])
        return whole if updated or torch.isfinite(whole) else None

    def _training_batch(self, train: EncodedSplit, indices: Sequence[int]) -> tuple[Batch, Tensor]:
        """Return a batch and its targets: one for each position if every position is read."""
        instances = [train.encoded.instances[index] for index in indices]
        targets = torch.tensor([target for index in indices for target in train.targets[index]])
        batch = self._batch(instances, self.every)
        if self.every:
            rows = targets.new_full((batch.ids.numel(),), IGNORED)
            targets = rows.index_copy(0, inputs.flat_places(instances, batch.ids.shape[1]), targets)
        return batch, to_device(targets, self.device)


def loss_of(
    task: Task[Any], model: TaskModel, precision: str, encodings: Tensor, batch: Batch, targets: Tensor
) -> Tensor:
    """Return the mean loss of a batch's encodings."""
    with autocast(encodings.device, precision):
        scores = model.score(encodings, batch)
    return task.loss(model, scores, batch, targets)
