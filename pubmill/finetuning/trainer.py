"""Fine-tuning loop: steps, evaluations on dev and predictions, the same for every task."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from pubmill.finetuning.batch_sampling import epoch_size, training_batches
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.parameter_groups import GroupedAdam
from pubmill.finetuning.predicting import DivergenceError, Predictor
from pubmill.finetuning.splits import Split
from pubmill.finetuning.tasks.task import Task
from pubmill.hardware.torch_setup import to_device
from pubmill.messages.progress import report_progress
from pubmill.recipes import FinetuningRecipe

REPORT_SECONDS = 5.0
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
    best_weights: dict[str, torch.Tensor] = field(default_factory=dict)


class Trainer(Predictor):
    """A fine-tuning in progress: a predictor and its training data, optimiser and progress."""

    def __init__(self, recipe: FinetuningRecipe, task: Task[Any], model: TaskModel, seed: int) -> None:
        super().__init__(recipe, task, model)
        self.seed = seed
        self.optimiser = GroupedAdam(model, recipe)

    def train(self, train: Split, dev: Split | None, passes: float | None = None) -> FinetuningProgress:
        """Train for all epochs, until the recipe's `stop_after`, or for `passes` over the data.

        The learning-rate schedule is always that of all epochs. Training ends with the weights that the
        recipe keeps: the last ones, or the best ones on dev (the first of equals). It stops early, with
        `diverged` set, if a loss or prediction is NaN or infinite; the weights are then unusable.
        """
        per_epoch = math.ceil(self._epoch_size(train) / self.recipe.batch_size)
        progress = FinetuningProgress(steps_per_epoch=per_epoch)
        total = per_epoch * self.recipe.epochs
        wanted = max(1, round(passes * per_epoch)) if passes else self.recipe.stop_after
        last = min(total, wanted or total)
        try:
            for _ in self._run_steps(train, progress, total, last):
                if self.recipe.keep == "best" and dev and self._is_dev_step(progress.steps, per_epoch, last):
                    self._score_dev(dev, progress, last)
            if self.recipe.keep == "last" and dev:
                self._score_dev(dev, progress, last)
        except DivergenceError:
            progress.diverged = True
            return progress
        if progress.best_weights:
            self.model.load_state_dict(progress.best_weights)
        return progress

    def _is_dev_step(self, step: int, per_epoch: int, last: int) -> bool:
        every = self.recipe.evaluate_every or per_epoch
        return step % every == 0 or step == last

    def _score_dev(self, dev: Split, progress: FinetuningProgress, last: int) -> None:
        """Score dev; remember the weights if they are the best so far and the recipe keeps the best."""
        score = self.task.dev_score(dev.examples, self.predict(dev))
        progress.dev.append((progress.steps, score))
        report_progress(f"step {progress.steps}/{last}: dev {self.recipe.metric} {score:.4f}")
        if progress.best is None or score > progress.best[1]:
            progress.best = (progress.steps, score)
            if self.recipe.keep == "best":
                weights = self.model.state_dict()
                progress.best_weights = {name: value.detach().clone() for name, value in weights.items()}

    def _run_steps(self, train: Split, progress: FinetuningProgress, total: int, last: int) -> Iterator[None]:
        """Make one step after another; yield after each."""
        lengths = train.lengths
        losses = torch.zeros((), device=self.device)
        reported = 0.0
        while progress.steps < last:
            number = 0
            for number, indices in enumerate(self._epoch_batches(train, len(progress.losses)), 1):
                started = time.monotonic()
                self.model.train()
                losses += self._update(train, indices, progress.steps, total)
                progress.steps += 1
                progress.tokens += sum(lengths[i] for i in indices)
                looks = progress.steps % CHECK_STEPS == 0 or progress.steps == last
                if looks and not torch.isfinite(losses):
                    raise DivergenceError
                progress.seconds += time.monotonic() - started
                if progress.seconds - reported > REPORT_SECONDS:
                    reported = progress.seconds
                    left = progress.seconds / progress.steps * (last - progress.steps)
                    mean = losses.item() / number
                    report_progress(f"step {progress.steps}/{last}: loss {mean:.4f}, {left:.0f} s left")
                yield
                if progress.steps == last:
                    break
            progress.losses.append(losses.item() / number)
            if not math.isfinite(progress.losses[-1]):
                progress.losses.pop()
                raise DivergenceError
            losses.zero_()

    def _epoch_size(self, train: Split) -> int:
        return epoch_size(len(train.encoded.instances), self.task.classes(train.targets))

    def _epoch_batches(self, train: Split, epoch: int) -> list[list[int]]:
        classes = self.task.classes(train.targets)
        return training_batches(train.lengths, self.recipe.batch_size, self.seed, epoch, classes)

    def _update(self, train: Split, indices: Sequence[int], step: int, total: int) -> torch.Tensor:
        """Make one update with one batch; return its loss."""
        instances = [train.encoded.instances[index] for index in indices]
        targets = torch.tensor([target for index in indices for target in train.targets[index]])
        batch = collate(instances, self.task.reader.pad, self.device)
        with self._autocast():
            scores = self.model(batch)
        loss = self.task.loss(self.model, scores, batch, to_device(targets, self.device))
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step(step, total)
        return loss.detach()
