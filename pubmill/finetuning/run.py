"""One run: a model fine-tuned on a dataset with one seed, and what it predicts of a split."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pubmill.errors import PubmillError
from pubmill.finetuning.encoders import load_encoder, load_tokenizer
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.predicting import DivergenceError, Predictor, choose_device, make_reader
from pubmill.finetuning.splits import Split, encode_split, read_split, split_path
from pubmill.finetuning.stabilisation import prepare_encoder
from pubmill.finetuning.task_models import (
    base_model,
    continue_head,
    load_task_model,
    read_account,
    start_failed,
)
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.tasks.base import Task
from pubmill.finetuning.training import FinetuningProgress, Trainer, say
from pubmill.hardware.provenance import provenance
from pubmill.hardware.torch_setup import cuda_settings
from pubmill.recipes import FinetuningRecipe
from pubmill.storage.files import sha256
from pubmill.storage.weights_digest import folder_sha256


@dataclass(frozen=True, kw_only=True)
class Data:
    """A dataset's examples by split; `hashes` are those of their files."""

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


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A model once trained, and how it came to be so: `refit` is the progress with train and dev, if any.

    `wanted` is the split to predict; `encoded` counts what had to be done to examples so that the encoder
    could read them; `head_from_start`: whether the head began with the weights of the model before, None
    where that was no task model.
    """

    trainer: Trainer
    progress: FinetuningProgress
    refit: FinetuningProgress | None
    wanted: Split
    encoded: dict[str, int]
    head_from_start: bool | None


def finetune(
    recipe: FinetuningRecipe, model: Path, dataset: Path, seed: int, split: str, dev: str | None = "dev"
) -> Outcome:
    """Fine-tune `model` on the dataset's train, choose its weights by `dev`, predict `split`.

    The predictions are one for each example of `split`, in its order; none of them is made up where
    training failed. A `Run`, unless `model` is what was kept of a run that diverged: then there is nothing
    to begin with, and this run has failed too.
    """
    started = time.monotonic()
    data = _read(recipe, dataset, split, dev)
    asked = _asked(data, model, seed, split, dev)
    if asked["start_failed"] == "nan":
        return _not_trained(recipe, data, asked)
    trained = _train(recipe, model, data, seed, choose_device())
    trainer, task = trained.trainer, trained.trainer.task
    predicted, failed = _predict(trainer, trained.wanted, (trained.refit or trained.progress).diverged)
    account = {
        **_account(recipe, trained.progress, trained.refit),
        **_surroundings(trainer),
        **asked,
        "head_from_start": trained.head_from_start,
        "max_length": task.reader.max_length,
        "labels": task.labels,
        "encoded": trained.encoded,
        "failed": failed,
        "seconds": round(time.monotonic() - started, 3),
    }
    rows = [task.row(*both) for both in zip(data.wanted, predicted, strict=True)]
    return Run(task=task, model=trainer.model, predictions=rows, account=account)


def not_chosen(
    recipe: FinetuningRecipe,
    model: Path,
    dataset: Path,
    seed: int,
    split: str,
    dev: str | None,
    searched: Iterable[str],
) -> Outcome:
    """What comes of a run for which no values could be chosen, as all trials failed: nothing is trained.

    `searched` are the recipe's keys that the trials were about; the account has null for them.
    """
    data = _read(recipe, dataset, split, dev)
    made = _not_trained(recipe, data, _asked(data, model, seed, split, dev))
    values = {**made.account["recipe"], **dict.fromkeys(searched)}
    return replace(made, account={**made.account, "recipe": values, "search_failed": "nan"})


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
    data = _read(recipe, dataset, split, dev)
    hashes = {**account["data_sha256"], split: data.hashes[split]}
    changed = {**account, "split": split, "data_sha256": hashes}
    if account["failed"] == "nan":
        return Outcome(predictions=_nothing(recipe, data), account=changed)
    predictor = load_task_model(kept, choose_device())
    task, learnt = predictor.task, _learnt(recipe, data)
    task.prepare(learnt, task.encode(learnt).instances)
    wanted = encode_split(task, data.wanted)
    _tell(wanted.encoded.counts)
    predicted, failed = _predict(predictor, wanted, False)
    rows = [task.row(*both) for both in zip(data.wanted, predicted, strict=True)]
    return Outcome(predictions=rows, account={**changed, "failed": failed})


def _read(recipe: FinetuningRecipe, dataset: Path, split: str, dev: str | None) -> Data:
    kind = TASKS[recipe.task].kind
    if dev is None and recipe.keep == "best":
        raise PubmillError(f"{dataset}: no dev to choose the best weights by; the recipe needs keep: last")
    names = dict.fromkeys(name for name in ("train", dev, split) if name)
    splits = {name: read_split(dataset, name, kind) for name in names}
    return Data(
        train=splits["train"],
        dev=splits[dev] if dev else None,
        wanted=splits[split],
        hashes={name: sha256(split_path(dataset, name)) for name in names},
    )


def _learnt(recipe: FinetuningRecipe, data: Data) -> list[Any]:
    """The examples that a run's model has learnt from in the end."""
    return [*data.train, *(data.dev or [])] if recipe.train_on == "train+dev" else data.train


def _train(recipe: FinetuningRecipe, model: Path, data: Data, seed: int, device: torch.device) -> Trained:
    """Train, and train anew where the recipe says so; what diverged is not begun again."""
    trainer, from_start = _begin(recipe, model, data.train, seed, device)
    train = encode_split(trainer.task, data.train, learn=True)
    known = encode_split(trainer.task, data.dev) if data.dev else None
    wanted = encode_split(trainer.task, data.wanted)
    encoded = _encoded((train, known, wanted))
    _tell(encoded)
    trainer.task.prepare(data.train, train.encoded.instances)
    progress, refit = trainer.train(train, known), None
    if recipe.train_on == "train+dev" and not progress.diverged:
        del trainer  # two models, two optimisers and the best weights would not fit on a GPU together
        progress.best_weights.clear()
        trainer, refit = _refit(recipe, model, _learnt(recipe, data), seed, device, progress)
    return Trained(
        trainer=trainer,
        progress=progress,
        refit=refit,
        wanted=wanted,
        encoded=encoded,
        head_from_start=from_start,
    )


def _begin(
    recipe: FinetuningRecipe, model: Path, learnt: list[Any], seed: int, device: torch.device
) -> tuple[Trainer, bool | None]:
    """Return a trainer with a head on the encoder, and whether the head starts from the one of `model`."""
    tokenizer = load_tokenizer(model, words=recipe.task == "tokens")
    encoder = load_encoder(model, recipe.dropout, device)
    reader = make_reader(recipe, tokenizer, encoder)
    kind = TASKS[recipe.task]
    task = kind(recipe, reader, kind.labels_of(recipe, learnt))
    torch.manual_seed(seed)
    task.extend(encoder)
    prepare_encoder(encoder, recipe)
    head = task.head(int(encoder.config.hidden_size))
    from_start = continue_head(head, task, model)
    if reader.max_length < recipe.max_length:
        say(f"max_length: {reader.max_length}, for the encoder takes no more")
    return Trainer(recipe, task, TaskModel(encoder, head).to(device), seed), from_start


def _refit(
    recipe: FinetuningRecipe,
    model: Path,
    learnt: list[Any],
    seed: int,
    device: torch.device,
    progress: FinetuningProgress,
) -> tuple[Trainer, FinetuningProgress]:
    """Train anew with train and dev, as many passes as were best on dev (tinn2021 section 3.6)."""
    assert progress.best
    again = replace(recipe, keep="last", evaluate_every=None, train_on="train")
    trainer, _ = _begin(again, model, learnt, seed, device)
    train = encode_split(trainer.task, learnt, learn=True)
    trainer.task.prepare(learnt, train.encoded.instances)
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
    collapsed = _collapsed(predictor.task, wanted.examples, predicted)
    return predicted, "constant predictions" if collapsed else None


def _collapsed(task: Task[Any], examples: Sequence[Any], predicted: list[Any]) -> bool:
    """Whether the same is predicted of all examples though it isn't right for all; one shows nothing."""
    if len(predicted) < 2 or not task.constant(predicted):
        return False
    return not task.constant([*predicted, *map(task.gold, examples)])


def _asked(data: Data, model: Path, seed: int, split: str, dev: str | None) -> dict[str, Any]:
    """The part of training.json on what the run is of."""
    return {
        "seed": seed,
        "split": split,
        "dev_split": dev,
        "model": base_model(model),
        "model_sha256": folder_sha256(model),
        "data_sha256": data.hashes,
        "start_failed": start_failed(model),
        "search_failed": None,
    }


def _not_trained(recipe: FinetuningRecipe, data: Data, asked: dict[str, Any]) -> Outcome:
    """What comes of a run that could not begin, since one that it depends on diverged."""
    account = {
        **_account(recipe, FinetuningProgress(), None),
        **provenance(),
        **asked,
        "head_from_start": None,
        "max_length": None,
        "labels": [],
        "encoded": {},
        "failed": "nan",
        "seconds": 0.0,
    }
    return Outcome(predictions=_nothing(recipe, data), account=account)


def _nothing(recipe: FinetuningRecipe, data: Data) -> list[dict[str, Any]]:
    """A line without a prediction for each example."""
    return [{"id": example.id, TASKS[recipe.task].key: None} for example in data.wanted]


def _account(
    recipe: FinetuningRecipe, progress: FinetuningProgress, refit: FinetuningProgress | None
) -> dict[str, Any]:
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
        **cuda_settings(trainer.device),
    }
    return found


def _tell(encoded: Mapping[str, int]) -> None:
    """Say in the log what could not be read as it is."""
    done = [f"{name.replace('_', ' ')}: {count}" for name, count in sorted(encoded.items()) if count]
    if done:
        say(", ".join(done))
