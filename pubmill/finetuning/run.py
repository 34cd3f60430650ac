"""One run: a model fine-tuned on a dataset with one seed, and what it predicts of a split."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pubmill.errors import PubmillError
from pubmill.files import sha256
from pubmill.finetuning.encoders import load_encoder, load_tokenizer
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.keeping import base_model, load_task_model, read_account
from pubmill.finetuning.predicting import DivergenceError, Predictor, choose_device, make_reader
from pubmill.finetuning.splits import Split, encode_split, folder_sha256, read_split, split_path
from pubmill.finetuning.stabilisation import prepare_encoder
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.tasks.base import Task
from pubmill.finetuning.training import Progress, Trainer
from pubmill.provenance import provenance
from pubmill.recipes import FinetuningRecipe


@dataclass(frozen=True, kw_only=True)
class Data:
    """A dataset's examples by split; `hashes` are those of their files."""

    folder: Path
    train: list[Any]
    dev: list[Any] | None
    wanted: list[Any]
    hashes: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run predicts, and how that came about (training.json)."""

    predictions: list[dict[str, Any]]
    account: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Run(Outcome):
    """An outcome, with the model that was trained."""

    task: Task[Any]
    model: TaskModel


def finetune(
    recipe: FinetuningRecipe, model: Path, dataset: Path, seed: int, split: str, dev: str | None = "dev"
) -> Run:
    """Fine-tune `model` on the dataset's train, choose its weights by `dev`, predict `split`.

    The predictions are one for each example of `split`, in its order; none of them is made up where
    training failed.
    """
    started = time.monotonic()
    device = choose_device()
    data = _read(recipe, dataset, split, dev)
    task, trainer = _begin(recipe, model, data.train, seed, device)
    train = encode_split(task, data.train, learn=True)
    known = encode_split(task, data.dev) if data.dev else None
    wanted = encode_split(task, data.wanted)
    task.prepare(data.train, train.encoded.instances)
    progress = trainer.train(train, known)
    refit = None
    if recipe.train_on == "train+dev" and progress.best and data.dev:
        trainer, refit = _refit(recipe, model, data, seed, device, progress)
    predicted, failed = _predict(trainer, wanted, (refit or progress).diverged)
    account = {
        **_account(recipe, progress, refit),
        **_surroundings(trainer),
        "seed": seed,
        "split": split,
        "dev_split": dev,
        "model": base_model(model),
        "model_sha256": folder_sha256(model),
        "data_sha256": data.hashes,
        "max_length": task.reader.max_length,
        "labels": task.labels,
        "encoded": _encoded((train, known, wanted)),
        "failed": failed,
        "seconds": round(time.monotonic() - started, 3),
    }
    rows = [trainer.task.row(*both) for both in zip(data.wanted, predicted, strict=True)]
    return Run(task=trainer.task, model=trainer.model, predictions=rows, account=account)


def predict_kept(
    kept: Path,
    recipe: FinetuningRecipe,
    model: Path,
    dataset: Path,
    seed: int,
    split: str,
    dev: str | None = "dev",
) -> Outcome:
    """What `finetune` gives, from the task model that this very run has kept: nothing is trained.

    Its account is taken over, but for what is about the split that is predicted; `encoded` stays as it was.
    """
    account = read_account(kept, recipe, model, dataset, seed, dev)
    examples = read_split(dataset, split, TASKS[recipe.task].kind)
    hashes = {**account["data_sha256"], split: sha256(split_path(dataset, split))}
    changed = {**account, "split": split, "data_sha256": hashes}
    key = TASKS[recipe.task].key
    if account["failed"] == "nan":
        return Outcome(predictions=[{"id": one.id, key: None} for one in examples], account=changed)
    predictor = load_task_model(kept, choose_device())
    task, train = predictor.task, read_split(dataset, "train", predictor.task.kind)
    task.prepare(train, task.encode(train).instances)
    predicted, failed = _predict(predictor, encode_split(task, examples), False)
    rows = [task.row(*both) for both in zip(examples, predicted, strict=True)]
    return Outcome(predictions=rows, account={**changed, "failed": failed})


def _read(recipe: FinetuningRecipe, dataset: Path, split: str, dev: str | None) -> Data:
    kind = TASKS[recipe.task].kind
    if dev is None and recipe.keep == "best":
        raise PubmillError(f"{dataset}: no dev to choose the best weights by; the recipe needs keep: last")
    names = dict.fromkeys(name for name in ("train", dev, split) if name)
    splits = {name: read_split(dataset, name, kind) for name in names}
    return Data(
        folder=dataset,
        train=splits["train"],
        dev=splits[dev] if dev else None,
        wanted=splits[split],
        hashes={name: sha256(split_path(dataset, name)) for name in names},
    )


def _begin(
    recipe: FinetuningRecipe, model: Path, train: list[Any], seed: int, device: torch.device
) -> tuple[Task[Any], Trainer]:
    """The task, and a trainer with a new head on the pretrained encoder."""
    tokenizer = load_tokenizer(model, words=recipe.task == "tokens")
    encoder = load_encoder(model, recipe.dropout, device)
    reader = make_reader(recipe, tokenizer, encoder)
    kind = TASKS[recipe.task]
    task = kind(recipe, reader, kind.labels_of(recipe, train))
    torch.manual_seed(seed)
    task.extend(encoder)
    prepare_encoder(encoder, recipe)
    made = TaskModel(encoder, task.head(int(encoder.config.hidden_size))).to(device)
    return task, Trainer(recipe, task, made, seed)


def _refit(
    recipe: FinetuningRecipe, model: Path, data: Data, seed: int, device: torch.device, progress: Progress
) -> tuple[Trainer, Progress]:
    """Train anew with train and dev, as many passes as were best on dev (tinn2021 section 3.6)."""
    assert progress.best and data.dev
    both = [*data.train, *data.dev]
    again = replace(recipe, keep="last", evaluate_every=None, train_on="train")
    task, trainer = _begin(again, model, both, seed, device)
    train = encode_split(task, both, learn=True)
    task.prepare(both, train.encoded.instances)
    passes = progress.best[0] / progress.steps_per_epoch
    return trainer, trainer.train(train, None, passes)


def _predict(predictor: Predictor, wanted: Split, diverged: bool) -> tuple[list[Any], str | None]:
    """Predictions, and what failed; nothing is made up."""
    nothing = [None] * len(wanted.examples)
    if diverged:
        return nothing, "nan"
    try:
        predicted = predictor.predict(wanted)
    except DivergenceError:
        return nothing, "nan"
    return predicted, "constant predictions" if predictor.task.constant(predicted) else None


def _account(recipe: FinetuningRecipe, progress: Progress, refit: Progress | None) -> dict[str, Any]:
    """The part of training.json on what was trained and how it went."""
    step, score = progress.best or (None, None)
    per_epoch = progress.steps_per_epoch
    seconds = progress.seconds + (refit.seconds if refit else 0)
    tokens = progress.tokens + (refit.tokens if refit else 0)
    return {
        "recipe": asdict(recipe),
        "dev": {
            "metric": recipe.metric,
            "steps": [step for step, _ in progress.dev],
            "scores": [score for _, score in progress.dev],
            "best_step": step,
            "best_epoch": round(step / per_epoch, 3) if step else None,
            "best": score,
        },
        "loss_by_epoch": progress.losses,
        "steps": progress.steps,
        "steps_on_train_and_dev": refit.steps if refit else None,
        "tokens": tokens,
        "tokens_per_second": round(tokens / seconds) if seconds else None,
    }


def _encoded(splits: Iterable[Split | None]) -> dict[str, int]:
    """How often something had to be done to an example so that the encoder could read it, by what it was."""
    total: dict[str, int] = {}
    for split in splits:
        for name, count in split.encoded.counts.items() if split else ():
            total[name] = total.get(name, 0) + count
    return total


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
