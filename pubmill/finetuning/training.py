"""Fine-tuning of one model on one dataset with one seed (gu2020 sections 5 and 6.2)."""

import hashlib
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from pubmill.errors import PubmillError
from pubmill.examples import TokensExample, read_examples
from pubmill.files import sha256
from pubmill.finetuning.batches import prediction_batches, training_batches
from pubmill.finetuning.heads import TokenTagger, load_encoder, load_tokenizer
from pubmill.finetuning.inputs import Window, Windows, collate, encode
from pubmill.finetuning.optimisation import adam, schedule
from pubmill.finetuning.scores import entity_f1
from pubmill.precision import choose_precision
from pubmill.provenance import provenance
from pubmill.recipes import FinetuningRecipe

PREDICTION_TOKENS = 4096
"""Padded tokens predicted at once: from there on a batch's size makes no difference to the speed."""
REPORT_SECONDS = 5.0
CHECK_STEPS = 50
"""Steps between looks at the loss; each look makes a GPU wait."""

Prediction = dict[str, Any]
"""`{"id": ..., "labels": one BIO label a word, or None where training failed}`."""


class DivergenceError(Exception):
    """The loss or a prediction is no number any more."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """One split's examples and windows."""

    examples: list[TokensExample]
    encoded: Windows
    sha256: str

    @property
    def windows(self) -> list[Window]:
        return self.encoded.windows

    @property
    def lengths(self) -> list[int]:
        return [len(window.ids) for window in self.windows]


@dataclass(kw_only=True)
class Progress:
    """What training has done so far."""

    loss_by_epoch: list[float] = field(default_factory=list)
    dev_by_epoch: list[float] = field(default_factory=list)
    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    best_epoch: int = 0
    diverged: bool = False
    best_weights: dict[str, torch.Tensor] = field(default_factory=dict)


class Trainer:
    """One fine-tuning in progress: model, optimiser, device and precision."""

    def __init__(
        self,
        recipe: FinetuningRecipe,
        tagger: TokenTagger,
        pad: int,
        labels: Sequence[str],
        seed: int,
    ) -> None:
        self.recipe, self.tagger, self.labels, self.seed = recipe, tagger, list(labels), seed
        self.pad = pad
        self.device = tagger.linear.weight.device
        self.precision = choose_precision(recipe.precision, self.device)
        self.optimiser = adam(tagger, recipe)

    def train(self, train: Split, dev: Split) -> Progress:
        """Train for all epochs, keeping the weights of the epoch that is best on dev (the first of equals).

        Ends early, with `diverged` set, once a loss or a prediction is no number.
        """
        progress = Progress()
        per_epoch = math.ceil(len(train.windows) / self.recipe.batch_size)
        total = per_epoch * self.recipe.epochs
        for epoch in range(self.recipe.epochs):
            try:
                progress.loss_by_epoch.append(self.epoch(train, epoch, total, progress))
                predicted = self.predict(dev)
            except DivergenceError:
                progress.diverged = True
                return progress
            score = entity_f1([example.labels for example in dev.examples], predicted)
            if not progress.dev_by_epoch or score > max(progress.dev_by_epoch):
                progress.best_epoch = epoch + 1
                progress.best_weights = {k: v.detach().clone() for k, v in self.tagger.state_dict().items()}
            progress.dev_by_epoch.append(score)
            loss = progress.loss_by_epoch[-1]
            _say(f"epoch {epoch + 1}/{self.recipe.epochs}: loss {loss:.4f}, dev F1 {score:.4f}")
        return progress

    def epoch(self, train: Split, epoch: int, total: int, progress: Progress) -> float:
        """One pass over the training windows; returns the mean loss of its batches."""
        self.tagger.train()
        started = reported = time.monotonic()
        losses = torch.zeros((), device=self.device)
        lengths = train.lengths
        batches = training_batches(lengths, self.recipe.batch_size, self.seed, epoch)
        for number, indices in enumerate(batches, 1):
            rate = self.recipe.learning_rate * schedule(progress.steps, total, self.recipe.warmup)
            losses += self._step(train, indices, rate)
            progress.steps += 1
            progress.tokens += sum(lengths[i] for i in indices)
            now = time.monotonic()
            if (number % CHECK_STEPS == 0 or number == len(batches)) and not torch.isfinite(losses):
                raise DivergenceError
            if now - reported > REPORT_SECONDS:
                reported = now
                left = (now - started) / number * (total - progress.steps)
                _say(f"step {progress.steps}/{total}: loss {losses.item() / number:.4f}, {left:.0f} s left")
        progress.seconds += time.monotonic() - started
        return losses.item() / len(batches)

    def _step(self, train: Split, indices: Sequence[int], rate: float) -> torch.Tensor:
        """One update with one batch; returns its mean cross-entropy over the labelled words."""
        windows = [train.windows[index] for index in indices]
        words = ((train.examples[window.sentence].labels, window.words) for window in windows)
        gold = [self.labels.index(labels[word]) for labels, places in words for word in places]
        batch = collate(windows, self.pad, self.device)
        with self._autocast():
            logits = self.tagger(batch)
        loss = nn.functional.cross_entropy(logits, torch.tensor(gold).to(self.device, non_blocking=True))
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.tagger.parameters(), self.recipe.max_gradient_norm, foreach=True)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        return loss.detach()

    @torch.inference_mode()
    def predict(self, split: Split) -> list[list[str]]:
        """Labels of every word of every example; words that no subword stands for are "O"."""
        self.tagger.eval()
        predicted = [["O"] * len(example.words) for example in split.examples]
        for indices in prediction_batches(split.lengths, PREDICTION_TOKENS):
            windows = [split.windows[index] for index in indices]
            with self._autocast():
                logits = self.tagger(collate(windows, self.pad, self.device))
            if not torch.isfinite(logits).all():
                raise DivergenceError
            best = iter(logits.argmax(-1).tolist())
            for window in windows:
                for word in window.words:
                    predicted[window.sentence][word] = self.labels[next(best)]
        return predicted

    def _autocast(self) -> AbstractContextManager[None]:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16")


def finetune(
    recipe: FinetuningRecipe, model: Path, dataset: Path, seed: int, split: str
) -> tuple[list[Prediction], dict[str, Any]]:
    """Fine-tune `model` on the dataset's train, choose the epoch on dev, predict `split`.

    Returns the predictions, one for each example of `split` in its order, and the account of the
    training that is written to training.json.
    """
    started = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        torch.use_deterministic_algorithms(True, warn_only=True)
    tokenizer = load_tokenizer(model)
    encoder = load_encoder(model, recipe.dropout, device)
    max_length = min(recipe.max_length, encoder.config.max_position_embeddings)
    splits = {
        name: read_split(dataset, name, tokenizer, max_length)
        for name in dict.fromkeys(("train", "dev", split))
    }
    labels = label_set(splits["train"], dataset)
    torch.manual_seed(seed)
    tagger = TokenTagger(encoder, len(labels), recipe.dropout).to(device)
    trainer = Trainer(recipe, tagger, tokenizer.pad_token_id, labels, seed)
    predicted, progress, failed = _train_and_predict(trainer, splits["train"], splits["dev"], splits[split])
    predictions = [
        {"id": example.id, "labels": guess}
        for example, guess in zip(splits[split].examples, predicted, strict=True)
    ]
    return predictions, {
        **_account(recipe, progress, splits),
        **_surroundings(trainer),
        "seed": seed,
        "split": split,
        "model": model.name,
        "model_sha256": folder_sha256(model),
        "max_length": max_length,
        "labels": labels,
        "failed": failed,
        "seconds": round(time.monotonic() - started, 3),
    }


def _train_and_predict(
    trainer: Trainer, train: Split, dev: Split, wanted: Split
) -> tuple[Sequence[list[str] | None], Progress, Literal["nan", "constant predictions"] | None]:
    """Train, predict with the best epoch's weights, and say what failed; no label is made up."""
    progress = trainer.train(train, dev)
    if progress.diverged:
        _say(f"the loss is no number any more at step {progress.steps}: this run is marked as failed")
        return [None] * len(wanted.examples), progress, "nan"
    trainer.tagger.load_state_dict(progress.best_weights)
    predicted = trainer.predict(wanted)
    constant = len({label for labels in predicted for label in labels}) == 1
    return predicted, progress, "constant predictions" if constant else None


def _account(recipe: FinetuningRecipe, progress: Progress, splits: dict[str, Split]) -> dict[str, Any]:
    """The part of training.json on what was trained and how it went."""
    best = max(progress.dev_by_epoch, default=None)
    encoded = [split.encoded for split in splits.values()]
    return {
        "recipe": asdict(recipe),
        "data_sha256": {name: split.sha256 for name, split in splits.items()},
        "dev": {
            "metric": recipe.metric,
            "by_epoch": progress.dev_by_epoch,
            "best_epoch": progress.best_epoch or None,
            "best": best,
        },
        "loss_by_epoch": progress.loss_by_epoch,
        "steps": progress.steps,
        "tokens": progress.tokens,
        "tokens_per_second": round(progress.tokens / progress.seconds) if progress.seconds else None,
        "windows_split": sum(windows.split for windows in encoded),
        "words_without_subword": sum(windows.without_subword for windows in encoded),
        "words_shortened": sum(windows.shortened for windows in encoded),
    }


def _surroundings(trainer: Trainer) -> dict[str, Any]:
    """Commit, packages, Python and hardware, with the device, its threads and the precision used."""
    found = provenance()
    found["hardware"] = {
        **found["hardware"],
        "device": trainer.device.type,
        "threads": torch.get_num_threads(),
        "precision": trainer.precision,
    }
    return found


def read_split(dataset: Path, name: str, tokenizer: PreTrainedTokenizerBase, max_length: int) -> Split:
    """Read and encode one split of a dataset folder."""
    path = dataset / f"{name}.jsonl.gz"
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; scripts/convert.py makes it")
    examples = list(read_examples(path, TokensExample))
    if not examples:
        raise PubmillError(f"{path} holds no example; convert the dataset again")
    encoded = encode([example.words for example in examples], tokenizer, max_length)
    return Split(examples=examples, encoded=encoded, sha256=sha256(path))


def label_set(train: Split, dataset: Path) -> list[str]:
    """The labels of the training split: O first, the others in alphabetical order."""
    found = {label for example in train.examples for label in example.labels}
    if not train.windows or not found - {"O"}:
        raise PubmillError(f"{dataset}/train.jsonl.gz has no entity to learn from; convert the dataset again")
    return ["O", *sorted(found - {"O"})]


def folder_sha256(folder: Path) -> str:
    """One hash over a model folder's weights, configuration and tokenizer: names and contents."""
    digest = hashlib.sha256()
    for path in _content(folder):
        digest.update(f"{path.name} {sha256(path)}\n".encode())
    return digest.hexdigest()


def _content(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix in {".safetensors", ".json", ".txt"}:
            yield path


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
