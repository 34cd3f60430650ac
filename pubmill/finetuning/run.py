"""Fine-tuning run: a model, a dataset and a seed give predictions for a split."""

import copy
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.finetuning import encoders, task_models
from pubmill.finetuning.finetuning_job import FinetuningJob, Shared, read_split, split_path
from pubmill.finetuning.heads import PoolerLayers, TaskModel
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.lasting_errors import TrainingFailedError, lasting_errors
from pubmill.finetuning.predicting import DivergenceError, choose_device, make_reader
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.trainer import FinetuningProgress, Trainer
from pubmill.hardware.provenance import provenance
from pubmill.hardware.torch_setup import cuda_settings
from pubmill.messages.progress import report_progress
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.reading import as_values
from pubmill.storage.checksums import check_folder, folder_sha256, write_predictions
from pubmill.storage.files import sha256
from pubmill.storage.privacy import PUBLIC, access_of
from pubmill.storage.training_reports import (
    MadeWith,
    RunIdentity,
    TrainingCourse,
    TrainingReport,
    WrittenReport,
)


@dataclass(frozen=True, kw_only=True)
class Data:
    train: list[Example]
    dev: list[Example] | None
    wanted: list[Example]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The predictions of a run, and the report on how they were made (training.json)."""

    predictions: list[dict[str, Any]]
    report: TrainingReport


@dataclass(frozen=True, kw_only=True)
class Run(Outcome):
    """An outcome with the trained model."""

    task: Task[Any]
    model: TaskModel


@dataclass(frozen=True)
class Trained:
    """A trained model and its history: `refit` is the progress on train and dev, if any. `wanted`: the split
    to predict. `encoded`: counts of changes that were needed to encode examples. `head_from_start`: whether
    the head started from the previous model's weights; None if that was no task model."""

    trainer: Trainer
    progress: FinetuningProgress
    refit: FinetuningProgress | None
    wanted: EncodedSplit
    encoded: dict[str, int]
    head_from_start: bool | None


def finetune(job: FinetuningJob, shared: Shared | None = None) -> Outcome:
    """Fine-tune the job's model, choose its weights by the dev split, and predict the split. `shared`: what
    earlier fine-tunings of this process loaded; the result is the same as without.

    There is one prediction for each example of the split, in order; if training failed, they are null.
    Returns a `Run`, unless the model is the remainder of a failed run: then this run has failed too. Raises a
    `TrainingFailedError` if the training would fail again with the same model, data and recipe.
    """
    started = time.monotonic()
    shared = shared or Shared()
    data, asked = read_data(job, shared), run_identity(job, shared)
    if failed := asked["start_failed"]:
        return _outcome_without_training(job, shared, failed)
    device = choose_device()
    with lasting_errors(public=access_of(job.dataset) == PUBLIC):
        trained = _train(job, data, device, shared)
        trainer, task = trained.trainer, trained.trainer.task
        diverged = (trained.refit or trained.progress).diverged
        predictions, failed = _predict(trainer, trained.wanted, diverged)
    report: TrainingReport = {
        **_training_course(job.recipe, trained.progress, trained.refit),
        **_run_provenance(trainer),
        **asked,
        "head_from_start": trained.head_from_start,
        "max_length": task.reader.max_length,
        "labels": task.labels,
        "encoded": trained.encoded,
        "failed": failed,
        "seconds": round(time.monotonic() - started, 3),
    }
    return Run(task=task, model=trainer.model, predictions=predictions, report=report)


def finetune_or_fail(job: FinetuningJob, shared: Shared | None = None) -> Outcome:
    """Return the result of `finetune`; if the training would fail again, an outcome with the reason."""
    shared = shared or Shared()
    try:
        return finetune(job, shared)
    except TrainingFailedError as error:
        failed = str(error).replace(str(job.model), job.model.name)
    report_progress(f"the training failed, and would fail again: {failed}")
    return _outcome_without_training(job, shared, failed)


def not_chosen(job: FinetuningJob, searched: Iterable[str], failed: str, shared: Shared) -> Outcome:
    """Return the outcome of a run whose search failed in all trials, so that nothing is trained. `searched`:
    the recipe's keys that the trials were to decide; they are null in the report."""
    made = _outcome_without_training(job, shared, failed)
    values = {**made.report["recipe"], **dict.fromkeys(searched)}
    return replace(made, report={**made.report, "recipe": values, "search_failed": failed})


def write_outcome(
    outcome: Outcome, job: FinetuningJob, predictions: Path, keep_in: Path | None, made_from: str = ""
) -> None:
    """Write the task model into the folder `keep_in`, the predictions, and last training.json beside them,
    with the digest `made_from` of all that decides them."""
    report: WrittenReport = {**outcome.report, "made_from": made_from}
    if keep_in and isinstance(outcome, Run):
        task_models.keep(keep_in, outcome.task, outcome.model, report, job.dataset)
    elif keep_in:
        task_models.keep_report(keep_in, report)
    write_predictions(predictions, outcome.predictions, report)


def read_data(job: FinetuningJob, shared: Shared) -> Data:
    """Return the examples of the splits that a job reads; a `PubmillError` if one of them is missing."""
    recipe, dataset, dev = job.recipe, job.dataset, job.dev
    kind = TASKS[recipe.task].kind
    if dev is None and recipe.keep == "best":
        raise PubmillError(f"{dataset}: no dev to choose the best weights by; the recipe needs keep: last")
    splits = {name: shared.once(read_split, dataset, name, kind) for name in _splits(job)}
    return Data(train=splits["train"], dev=splits[dev] if dev else None, wanted=splits[job.split])


def _splits(job: FinetuningJob) -> list[str]:
    return list(dict.fromkeys(name for name in ("train", job.dev, job.split) if name))


def _train(job: FinetuningJob, data: Data, device: torch.device, shared: Shared) -> Trained:
    """Train, and train again if the recipe requires it; a diverged training is not repeated."""
    trainer, from_start = _make_trainer(job, data.train, device, shared)
    train = _encoded(trainer, "train", data.train, shared, learn=True)
    known = _encoded(trainer, "dev", data.dev, shared) if data.dev else None
    wanted = _encoded(trainer, "wanted", data.wanted, shared)
    encoded: Counter[str] = Counter()
    for split in filter(None, (train, known, wanted)):
        encoded.update(split.encoded.counts)
    if done := [f"{name.replace('_', ' ')}: {count}" for name, count in sorted(encoded.items()) if count]:
        report_progress(", ".join(done))
    trainer.task.prepare(data.train, train.encoded.instances)
    progress, refit = trainer.train(train, known), None
    if job.recipe.train_on == "train+dev" and not progress.diverged:
        # For as many passes as were best on dev (tinn2021 section 3.6).
        assert progress.best
        passes = progress.best[0] / progress.steps_per_epoch
        del trainer  # Two models, two optimisers and the best weights would not fit on a GPU together.
        progress.best_weights.clear()
        learnt = [*data.train, *(data.dev or [])]
        recipe = replace(job.recipe, keep="last", evaluate_every=None, train_on="train")
        trainer, _ = _make_trainer(replace(job, recipe=recipe), learnt, device, shared)
        both = _encoded(trainer, "train+dev", learnt, shared, learn=True)
        trainer.task.prepare(learnt, both.encoded.instances)
        refit = trainer.train(both, None, passes)
    return Trained(trainer, progress, refit, wanted, dict(encoded), from_start)


def _encoded(
    trainer: Trainer, name: str, examples: Sequence[Example], shared: Shared, learn: bool = False
) -> EncodedSplit:
    """Return encoded examples: those of the previous seed if the recipe is the same."""
    known = shared.encoded.get(name)
    if known is None or known[0] != trainer.recipe:
        known = shared.encoded[name] = trainer.recipe, trainer.task.encode_split(examples, learn=learn)
    split: EncodedSplit = known[1]
    return split


def _make_trainer(
    job: FinetuningJob, learnt: Sequence[Example], device: torch.device, shared: Shared | None = None
) -> tuple[Trainer, bool | None]:
    """Return a trainer with a head on the encoder, and whether it starts from the head of the job's model."""
    recipe, model = job.recipe, job.model
    shared = shared or Shared()
    tokenizer = copy.deepcopy(shared.once(encoders.load_encoder_tokenizer, model, recipe.spaced_words))
    encoder, pooler = encoders.load_encoder_and_pooler(model, recipe.dropout, device, shared)
    reader = make_reader(recipe, tokenizer, encoder)
    kind = TASKS[recipe.task]
    task = kind(recipe, reader, kind.labels_of(recipe, learnt))
    size = encoders.encoding_size(encoder)
    torch.manual_seed(job.seed)
    task.extend(encoder)
    encoders.prepare_encoder(encoder, recipe)
    head = task.head(size)
    if pooler and isinstance(head, PoolerLayers):
        head.start_from(pooler)
    from_start = task_models.continue_head(head, task, model)
    if recipe.max_length and reader.max_length < recipe.max_length:
        report_progress(f"max_length: {reader.max_length}, for the encoder takes no more")
    return Trainer(recipe, task, TaskModel(encoder, head).to(device), job.seed), from_start


def _predict(
    predictor: Trainer, wanted: EncodedSplit, diverged: bool
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the lines of predictions, and the reason of a failure; failed predictions are null."""
    predicted, failed = [None] * len(wanted.examples), "nan" if diverged else None
    try:
        if not diverged:
            predicted = predictor.predict(wanted)
    except DivergenceError:
        failed = "nan"
    return [predictor.task.row(*both) for both in zip(wanted.examples, predicted, strict=True)], failed


def run_identity(job: FinetuningJob, shared: Shared) -> RunIdentity:
    """Return what is trained, by names and hashes."""
    check_folder(job.model)  # before errors of the training, which are recorded as results
    return {
        "seed": job.seed,
        "split": job.split,
        "dev_split": job.dev,
        "model": task_models.base_model(job.model),
        "model_sha256": shared.once(folder_sha256, job.model),
        "data_sha256": {name: shared.once(sha256, split_path(job.dataset, name)) for name in _splits(job)},
        "start_failed": task_models.start_failed(job.model),
        "search_failed": None,
    }


def _outcome_without_training(job: FinetuningJob, shared: Shared, failed: str) -> Outcome:
    """Return the outcome of a run whose training failed, or that of a run that it depends on."""
    report: TrainingReport = {
        **_training_course(job.recipe, FinetuningProgress(), None),
        **provenance(),
        **run_identity(job, shared),
        "head_from_start": None,
        "max_length": None,
        "labels": [],
        "encoded": {},
        "failed": failed,
        "seconds": 0.0,
    }
    wanted, key = read_data(job, shared).wanted, TASKS[job.recipe.task].key
    return Outcome(predictions=[{"id": example.id, key: None} for example in wanted], report=report)


def _training_course(
    recipe: FinetuningRecipe, progress: FinetuningProgress, refit: FinetuningProgress | None
) -> TrainingCourse:
    step, score = progress.best or (None, None)
    per_epoch = progress.steps_per_epoch
    seconds = progress.seconds + (refit.seconds if refit else 0)
    tokens = progress.tokens + (refit.tokens if refit else 0)
    return {
        "recipe": as_values(recipe),
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


def _run_provenance(trainer: Trainer) -> MadeWith:
    """Return commit, packages, Python and hardware, with device, threads and precision; in float16 also the
    scale of the loss and the number of skipped steps."""
    made_with = provenance()
    execution = trainer.describe_execution() if trainer.device.type == "cuda" else {}
    hardware = {
        **made_with["hardware"],
        **execution,
        "device": trainer.device.type,
        "threads": torch.get_num_threads(),
        "precision": trainer.precision,
        **cuda_settings(trainer.device),
    }
    if scaling := trainer.optimiser.scaling.state():
        hardware["loss_scaling"] = scaling
    return {**made_with, "hardware": hardware}
