"""The loop of a fine-tuning: steps, looks at dev, predictions; the same for every task."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import torch

from pubmill.finetuning.batches import prediction_batches, training_batches
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.optimisation import Optimiser
from pubmill.finetuning.splits import Split
from pubmill.finetuning.tasks.base import Task
from pubmill.precision import choose_precision
from pubmill.recipes import FinetuningRecipe

PREDICTION_TOKENS = 4096
"""Padded tokens predicted at once: from there on a batch's size makes no difference to the speed."""
REPORT_SECONDS = 5.0
CHECK_STEPS = 50
"""Steps between looks at the loss; each look makes a GPU wait."""


class DivergenceError(Exception):
    """The loss or a prediction is no number any more."""


@dataclass(kw_only=True)
class Progress:
    """What training has done so far; `dev` has (step, score) of each look, `losses` the mean of each epoch."""

    losses: list[float] = field(default_factory=list)
    dev: list[tuple[int, float]] = field(default_factory=list)
    steps: int = 0
    steps_per_epoch: int = 0
    tokens: int = 0
    seconds: float = 0.0
    diverged: bool = False
    best: tuple[int, float] | None = None
    best_weights: dict[str, torch.Tensor] = field(default_factory=dict)


class Trainer:
    """One fine-tuning in progress: task, model, optimiser, device and precision."""

    def __init__(self, recipe: FinetuningRecipe, task: Task[Any], model: TaskModel, seed: int) -> None:
        self.recipe, self.task, self.model, self.seed = recipe, task, model, seed
        self.device = next(model.parameters()).device
        self.precision = choose_precision(recipe.precision, self.device)
        self.optimiser = Optimiser(model, recipe)

    def train(self, train: Split, dev: Split | None) -> Progress:
        """Train for all epochs, or until `stop_after`; the model ends with the weights that the recipe keeps.

        Where these are the best on dev, they are the first of equals. Ends early, with `diverged` set,
        once a loss or a prediction is no number; the weights are then worth nothing.
        """
        per_epoch = math.ceil(self._size(train) / self.recipe.batch_size)
        progress = Progress(steps_per_epoch=per_epoch)
        total = per_epoch * self.recipe.epochs
        last = min(total, self.recipe.stop_after or total)
        try:
            for _ in self._steps(train, progress, total, last):
                if self.recipe.keep == "best" and dev and self._looks(progress.steps, per_epoch, last):
                    self._look(dev, progress, last)
            if self.recipe.keep == "last" and dev:
                self._look(dev, progress, last)
        except DivergenceError:
            progress.diverged = True
            return progress
        if progress.best_weights:
            self.model.load_state_dict(progress.best_weights)
        return progress

    def _looks(self, step: int, per_epoch: int, last: int) -> bool:
        every = self.recipe.evaluate_every or per_epoch
        return step % every == 0 or step == last

    def _look(self, dev: Split, progress: Progress, last: int) -> None:
        """Score dev; remember the weights if they are the best so far and the best are kept."""
        score = self.task.dev_score(dev.examples, self.predict(dev))
        progress.dev.append((progress.steps, score))
        _say(f"step {progress.steps}/{last}: dev {self.recipe.metric} {score:.4f}")
        if progress.best is None or score > progress.best[1]:
            progress.best = (progress.steps, score)
            if self.recipe.keep == "best":
                weights = self.model.state_dict()
                progress.best_weights = {name: value.detach().clone() for name, value in weights.items()}

    def _steps(self, train: Split, progress: Progress, total: int, last: int) -> Iterator[None]:
        """Make one step after another, and give way to the caller after each."""
        lengths = train.lengths
        losses = torch.zeros((), device=self.device)
        reported = 0.0
        while progress.steps < last:
            number = 0
            for number, indices in enumerate(self._batches(train, len(progress.losses)), 1):
                started = time.monotonic()
                self.model.train()
                losses += self._step(train, indices, progress.steps, total)
                progress.steps += 1
                progress.tokens += sum(lengths[i] for i in indices)
                if progress.steps % CHECK_STEPS == 0 or progress.steps == last:
                    if not torch.isfinite(losses):
                        raise DivergenceError
                progress.seconds += time.monotonic() - started
                if progress.seconds - reported > REPORT_SECONDS:
                    reported = progress.seconds
                    left = progress.seconds / progress.steps * (last - progress.steps)
                    mean = losses.item() / number
                    _say(f"step {progress.steps}/{last}: loss {mean:.4f}, {left:.0f} s left")
                yield
                if progress.steps == last:
                    break
            progress.losses.append(losses.item() / number)
            if not math.isfinite(progress.losses[-1]):
                progress.losses.pop()
                raise DivergenceError
            losses.zero_()

    def _size(self, train: Split) -> int:
        return len(train.encoded.instances)

    def _batches(self, train: Split, epoch: int) -> list[list[int]]:
        return training_batches(train.lengths, self.recipe.batch_size, self.seed, epoch)

    def _step(self, train: Split, indices: Sequence[int], step: int, total: int) -> torch.Tensor:
        """One update with one batch; returns its loss."""
        instances = [train.encoded.instances[index] for index in indices]
        targets = torch.tensor([target for index in indices for target in train.targets[index]])
        batch = collate(instances, self.task.reader.pad, self.device)
        with self._autocast():
            scores = self.model(batch)
        loss = self.task.loss(self.model, scores, batch, targets.to(self.device, non_blocking=True))
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step(step, total)
        return loss.detach()

    @torch.inference_mode()
    def predict(self, split: Split) -> list[Any]:
        """What is predicted of every example."""
        self.model.eval()
        instances = split.encoded.instances
        outputs: list[torch.Tensor] = [torch.empty(0)] * len(instances)
        for indices in prediction_batches(split.lengths, PREDICTION_TOKENS):
            batch = collate([instances[index] for index in indices], self.task.reader.pad, self.device)
            with self._autocast():
                scores = self.model(batch)
            if not torch.isfinite(scores).all():
                raise DivergenceError
            for index, output in zip(indices, self.task.outputs(self.model, scores, batch), strict=True):
                outputs[index] = output
        return self.task.predictions(split.examples, instances, outputs)

    def _autocast(self) -> AbstractContextManager[None]:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16")


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
