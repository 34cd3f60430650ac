"""Fine-tuning run: a model, a dataset and a seed give predictions for a split."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.finetuning import encoders, task_models
from pubmill.finetuning.finetuning_job import FinetuningJob, read_split, split_path
from pubmill.finetuning.heads import PoolerLayers, TaskModel
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.lasting_errors import TrainingFailedError, lasting_errors
from pubmill.finetuning.predicting import DivergenceError, Predictor, choose_device, make_reader
from pubmill.finetuning.shared_process import Load, preload, take
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.trainer import FinetuningProgress, Trainer
from pubmill.hardware.provenance import provenance
from pubmill.hardware.torch_setup import cuda_settings
from pubmill.messages.progress import report_progress
from pubmill.metrics.collapse import failure_of
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.reading import as_values
from pubmill.storage.checksums import folder_sha256, write_predictions
from pubmill.storage.files import sha256
from pubmill.storage.privacy import PUBLIC, access_of
from pubmill.storage.training_reports import MadeWith, RunIdentity, TrainingCourse, TrainingReport


@dataclass(frozen=True, kw_only=True)
class Data:
    """A dataset's examples by split; `hashes` are those of their files."""

    train: list[Example]
    dev: list[Example] | None
    wanted: list[Example]
    hashes: dict[str, str]


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


def finetune(job: FinetuningJob) -> Outcome:
    """Fine-tune the job's model, choose its weights by the dev split, and predict the split.

    There is one prediction for each example of the split, in order; if training failed, they are null.
    Returns a `Run`, unless the model is the remainder of a failed run: then this run has failed too. Raises a
    `TrainingFailedError` if the training would fail again with the same model, data and recipe.
    """
    started = time.monotonic()
    data = _read_data(job)
    asked = _run_identity(job, data)
    if failed := asked["start_failed"]:
        return _outcome_without_training(job, data, failed)
    device = choose_device()
    with lasting_errors(public=access_of(job.dataset) == PUBLIC):
        trained = _train(job, data, device)
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


def finetune_or_fail(job: FinetuningJob) -> Outcome:
    """Return the result of `finetune`; if the training would fail again, an outcome with the reason."""
    try:
        return finetune(job)
    except TrainingFailedError as error:
        failed = str(error).replace(str(job.model), job.model.name)
    report_progress(f"the training failed, and would fail again: {failed}")
    return _outcome_without_training(job, _read_data(job), failed)


def not_chosen(job: FinetuningJob, searched: Iterable[str], failed: str) -> Outcome:
    """Return the outcome of a run whose search failed in all trials, so that nothing is trained. `searched`:
    the recipe's keys that the trials were to decide; they are null in the report."""
    made = _outcome_without_training(job, _read_data(job), failed)
    values = {**made.report["recipe"], **dict.fromkeys(searched)}
    return replace(made, report={**made.report, "recipe": values, "search_failed": failed})


def predict_kept(job: FinetuningJob, kept: Path) -> Outcome:
    """Return the result of `finetune` from the task model that this run kept earlier, without training. The
    report is copied, except for fields about the predicted split; `encoded` is unchanged."""
    report = task_models.read_report(kept, job)
    data = _read_data(job)
    hashes = {**report["data_sha256"], job.split: data.hashes[job.split]}
    changed: TrainingReport = {**report, "split": job.split, "data_sha256": hashes}
    if failure_of(report):
        return Outcome(predictions=_empty_predictions(job.recipe, data), report=changed)
    predictor = task_models.load_task_model(kept, choose_device())
    task, learnt = predictor.task, _training_examples(job.recipe, data)
    task.prepare(learnt, task.encode(learnt).instances)
    wanted = task.encode_split(data.wanted)
    _report_changes(wanted.encoded.counts)
    predictions, failed = _predict(predictor, wanted, False)
    return Outcome(predictions=predictions, report={**changed, "failed": failed})


def write_outcome(outcome: Outcome, job: FinetuningJob, predictions: Path, keep_in: Path | None) -> None:
    """Write the predictions, training.json beside them, and the task model into the folder `keep_in`."""
    write_predictions(predictions, outcome.predictions, outcome.report)
    if keep_in and isinstance(outcome, Run):
        task_models.keep(keep_in, outcome.task, outcome.model, outcome.report, job.dataset)
    elif keep_in:
        task_models.keep_report(keep_in, outcome.report)


def _read_data(job: FinetuningJob) -> Data:
    recipe, dataset, dev = job.recipe, job.dataset, job.dev
    kind = TASKS[recipe.task].kind
    if dev is None and recipe.keep == "best":
        raise PubmillError(f"{dataset}: no dev to choose the best weights by; the recipe needs keep: last")
    names = _splits(job)
    splits = {name: take(read_split, dataset, name, kind) for name in names}
    return Data(
        train=splits["train"],
        dev=splits[dev] if dev else None,
        wanted=splits[job.split],
        hashes={name: take(sha256, split_path(dataset, name)) for name in names},
    )


def _splits(job: FinetuningJob) -> list[str]:
    return list(dict.fromkeys(name for name in ("train", job.dev, job.split) if name))


def preload_inputs(job: FinetuningJob) -> None:
    """Load what the job needs, whatever its seed, for forks of this process."""
    kind, names = TASKS[job.recipe.task].kind, _splits(job)
    loads: list[Load] = [
        *((read_split, job.dataset, (name, kind)) for name in names),
        *((sha256, split_path(job.dataset, name), ()) for name in names),
        (folder_sha256, job.model, ()),
        (encoders.read_encoder, job.model, (job.recipe.dropout,)),
    ]
    preload(loads)


def _training_examples(recipe: FinetuningRecipe, data: Data) -> list[Example]:
    """Return the examples that a run's model was finally trained on."""
    return [*data.train, *(data.dev or [])] if recipe.train_on == "train+dev" else data.train


def _train(job: FinetuningJob, data: Data, device: torch.device) -> Trained:
    """Train, and train again if the recipe requires it; a diverged training is not repeated."""
    trainer, from_start = _make_trainer(job, data.train, device)
    train = trainer.task.encode_split(data.train, learn=True)
    known = trainer.task.encode_split(data.dev) if data.dev else None
    wanted = trainer.task.encode_split(data.wanted)
    encoded: Counter[str] = Counter()
    for split in filter(None, (train, known, wanted)):
        encoded.update(split.encoded.counts)
    _report_changes(encoded)
    trainer.task.prepare(data.train, train.encoded.instances)
    progress, refit = trainer.train(train, known), None
    if job.recipe.train_on == "train+dev" and not progress.diverged:
        del trainer  # Two models, two optimisers and the best weights would not fit on a GPU together.
        progress.best_weights.clear()
        trainer, refit = _refit(job, _training_examples(job.recipe, data), device, progress)
    return Trained(trainer, progress, refit, wanted, dict(encoded), from_start)


def _make_trainer(
    job: FinetuningJob, learnt: Sequence[Example], device: torch.device
) -> tuple[Trainer, bool | None]:
    """Return a trainer with a head on the encoder, and whether it starts from the head of the job's model."""
    recipe, model = job.recipe, job.model
    tokenizer = encoders.load_encoder_tokenizer(model, words=recipe.spaced_words)
    encoder, pooler = encoders.load_encoder_and_pooler(model, recipe.dropout, device)
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


def _refit(
    job: FinetuningJob, learnt: list[Example], device: torch.device, progress: FinetuningProgress
) -> tuple[Trainer, FinetuningProgress]:
    """Train again on train and dev, for as many passes as were best on dev (tinn2021 section 3.6)."""
    assert progress.best
    recipe = replace(job.recipe, keep="last", evaluate_every=None, train_on="train")
    trainer, _ = _make_trainer(replace(job, recipe=recipe), learnt, device)
    train = trainer.task.encode_split(learnt, learn=True)
    trainer.task.prepare(learnt, train.encoded.instances)
    passes = progress.best[0] / progress.steps_per_epoch
    return trainer, trainer.train(train, None, passes)


def _predict(
    predictor: Predictor, wanted: EncodedSplit, diverged: bool
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the lines of predictions, and the reason of a failure; failed predictions are null."""
    predicted, failed = [None] * len(wanted.examples), "nan" if diverged else None
    try:
        if not diverged:
            predicted = predictor.predict(wanted)
    except DivergenceError:
        failed = "nan"
    return [predictor.task.row(*both) for both in zip(wanted.examples, predicted, strict=True)], failed


def _run_identity(job: FinetuningJob, data: Data) -> RunIdentity:
    return {
        "seed": job.seed,
        "split": job.split,
        "dev_split": job.dev,
        "model": task_models.base_model(job.model),
        "model_sha256": take(folder_sha256, job.model),
        "data_sha256": data.hashes,
        "start_failed": task_models.start_failed(job.model),
        "search_failed": None,
    }


def _outcome_without_training(job: FinetuningJob, data: Data, failed: str) -> Outcome:
    """Return the outcome of a run whose training failed, or that of a run that it depends on."""
    report: TrainingReport = {
        **_training_course(job.recipe, FinetuningProgress(), None),
        **provenance(),
        **_run_identity(job, data),
        "head_from_start": None,
        "max_length": None,
        "labels": [],
        "encoded": {},
        "failed": failed,
        "seconds": 0.0,
    }
    return Outcome(predictions=_empty_predictions(job.recipe, data), report=report)


def _empty_predictions(recipe: FinetuningRecipe, data: Data) -> list[dict[str, object]]:
    """Return a line without a prediction for each example."""
    return [{"id": example.id, TASKS[recipe.task].key: None} for example in data.wanted]


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


def _report_changes(encoded: Mapping[str, int]) -> None:
    """Print what could not be encoded unchanged."""
    done = [f"{name.replace('_', ' ')}: {count}" for name, count in sorted(encoded.items()) if count]
    if done:
        report_progress(", ".join(done))
