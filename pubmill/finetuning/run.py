"""Fine-tuning runs: a model, a dataset and a seed give predictions for a split. One process trains all seeds
of a run, and loads torch, the model and its data once."""

import copy
import gc
import hashlib
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.examples.kinds import Example
from pubmill.finetuning import encoders, task_models
from pubmill.finetuning.finetuning_job import FinetuningJob, Shared, read_split, split_path
from pubmill.finetuning.heads import PoolerLayers, TaskModel
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.lasting_errors import TrainingFailedError, lasting_errors, reason_of
from pubmill.finetuning.predicting import DivergenceError, choose_device, make_reader
from pubmill.finetuning.tasks import TASKS
from pubmill.finetuning.tasks.relations import written_tokens
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.trainer import FinetuningProgress, Trainer
from pubmill.hardware.provenance import provenance
from pubmill.messages.progress import report_progress
from pubmill.metrics.run_manifests import write_manifest
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.reading import as_json, as_values
from pubmill.storage import checksums
from pubmill.storage.blocks import MADE_FROM
from pubmill.storage.files import read_json, sha256
from pubmill.storage.privacy import PUBLIC, access_of
from pubmill.storage.result_paths import PREDICTIONS
from pubmill.storage.training_reports import RunIdentity, TrainingCourse, TrainingReport, WrittenReport


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


def train_seeds(
    jobs: Mapping[str, FinetuningJob],
    manifest: Path,
    *,
    keep: Mapping[str, Path],
    version: Sequence[int],
    searched: Iterable[str] = (),
    search_failed: str | None = None,
) -> None:
    """Train all jobs that are not done, in order, and write the manifest. Each seed's files are written whole
    as soon as it is done, with a digest of all that decides them, and are the same as when trained alone.

    `jobs`: stem of the files below the manifest's folder -> fine-tuning; all have one model and dataset.
    `keep`: stem -> folder for the task model. `version`: that of the stage. `search_failed`: why all trials
    of a search failed, so that nothing is trained; `searched`: the recipe's keys that it was to decide. A
    training that would fail again is an outcome: its predictions are null. Any other error ends the program
    with a `PubmillError` that names the finished seeds, whose files stay.
    """
    shared, done = Shared(), list[str]()
    for stem, job in jobs.items():
        read_data(job, shared)
        identity = {**run_identity(job, shared), "search_failed": search_failed}
        decides = as_json({"version": list(version), "recipe": job.recipe, **identity})
        made_from = hashlib.sha256(decides.encode()).hexdigest()
        predictions, folder = manifest.parent / f"{stem}{PREDICTIONS}", keep.get(stem)
        if _is_done(predictions, made_from, folder):
            report_progress(f"{stem} is done")
        else:
            try:
                if search_failed is not None:
                    outcome = outcome_without_training(job, shared, search_failed, searched)
                else:
                    outcome = finetune_or_fail(job, shared)
                write_outcome(outcome, job, predictions, folder, made_from)
            except StopRequestedError:
                raise
            except Exception as error:
                if not isinstance(error, PubmillError):
                    traceback.print_exc()
                why = reason_of(error, public=access_of(job.dataset) == PUBLIC)
                kept = f"Done, and kept: {', '.join(done)}" if done else "Nothing is done yet"
                raise PubmillError(
                    f"{manifest}: {stem} could not be trained: {why}. {kept}. The same command goes on with "
                    f"{stem}"
                ) from None
            del outcome
            gc.collect()
            torch.cuda.empty_cache()
        done.append(stem)
    write_manifest(manifest, done, keep)


def _is_done(predictions: Path, made_from: str, folder: Path | None) -> bool:
    """Return whether a seed's files are there and whole, and made from the same; `folder`: that of the task
    model which is also needed. What is damaged is not done."""
    try:
        report = checksums.report_of(predictions)
        same = report.get(MADE_FROM) == made_from and predictions.is_file()
        if not same or not checksums.is_as_written(predictions, report):
            return False
        return not folder or (
            checksums.is_whole(folder) and read_json(folder / checksums.REPORT).get(MADE_FROM) == made_from
        )
    except PubmillError:
        return False


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
        return outcome_without_training(job, shared, failed)
    device = choose_device()
    with lasting_errors(public=access_of(job.dataset) == PUBLIC):
        trainer, from_start = _make_trainer(job, data["train"], device, shared)
        train = _encoded(trainer, "train", data["train"], shared, learn=True)
        dev = _encoded(trainer, "dev", data[job.dev], shared) if job.dev else None
        wanted = _encoded(trainer, "wanted", data[job.split], shared)
        encoded: Counter[str] = Counter()
        for split in filter(None, (train, dev, wanted)):
            encoded.update(split.encoded.counts)
        if done := [f"{name.replace('_', ' ')}: {count}" for name, count in sorted(encoded.items()) if count]:
            report_progress(", ".join(done))
        trainer.task.prepare(data["train"], train.encoded.instances)
        progress, refit = trainer.train(train, dev), None
        if job.recipe.train_on == "train+dev" and not progress.diverged:
            # For as many passes as were best on dev (tinn2021 section 3.6).
            assert progress.best and job.dev
            passes = progress.best[0] / progress.steps_per_epoch
            del trainer  # Two models, two optimisers and the best weights would not fit on a GPU together.
            progress.best_weights.clear()
            learnt = [*data["train"], *data[job.dev]]
            recipe = replace(job.recipe, keep="last", evaluate_every=None, train_on="train")
            trainer, _ = _make_trainer(replace(job, recipe=recipe), learnt, device, shared)
            both = _encoded(trainer, "train+dev", learnt, shared, learn=True)
            trainer.task.prepare(learnt, both.encoded.instances)
            refit = trainer.train(both, None, passes)
        task, predicted, failed = trainer.task, [None] * len(wanted.examples), "nan"
        with suppress(DivergenceError):
            if not (refit or progress).diverged:
                predicted, failed = trainer.predict(wanted), None
        rows = [task.row(*both) for both in zip(wanted.examples, predicted, strict=True)]
    made_with = provenance()
    report: TrainingReport = {
        **_training_course(job.recipe, progress, refit),
        **made_with,
        "hardware": {**made_with["hardware"], **trainer.describe_execution()},
        **asked,
        "head_from_start": from_start,
        "max_length": task.reader.max_length,
        "labels": task.labels,
        "encoded": dict(encoded),
        "failed": failed,
        "seconds": round(time.monotonic() - started, 3),
    }
    return Run(task=task, model=trainer.model, predictions=rows, report=report)


def finetune_or_fail(job: FinetuningJob, shared: Shared | None = None) -> Outcome:
    """Return the result of `finetune`; if the training would fail again, an outcome with the reason."""
    shared = shared or Shared()
    try:
        return finetune(job, shared)
    except TrainingFailedError as error:
        failed = str(error).replace(str(job.model), job.model.name)
    report_progress(f"the training failed, and would fail again: {failed}")
    return outcome_without_training(job, shared, failed)


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
    checksums.write_predictions(predictions, outcome.predictions, report)


def read_data(job: FinetuningJob, shared: Shared) -> dict[str, list[Any]]:
    """Return the examples of the splits that a job reads; a `PubmillError` if one of them is missing."""
    kind = TASKS[job.recipe.task].kind
    if job.dev is None and job.recipe.keep == "best":
        raise PubmillError(
            f"{job.dataset}: no dev to choose the best weights by; the recipe needs keep: last"
        )
    return {name: shared.once(read_split, job.dataset, name, kind) for name in job.splits}


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
    encoder, pooler = copy.deepcopy(shared.once(encoders.read_encoder, model, recipe.dropout, device))
    reader = make_reader(recipe, tokenizer, encoder)
    kind = TASKS[recipe.task]
    task = kind(recipe, reader, kind.labels_of(recipe, learnt))
    size = encoders.encoding_size(encoder)
    torch.manual_seed(job.seed)
    if recipe.entities == "markers":
        encoders.add_tokens(tokenizer, encoder, written_tokens(recipe))
    encoders.prepare_encoder(encoder, recipe)
    head = task.head(size)
    if pooler and isinstance(head, PoolerLayers):
        head.start_from(pooler)
    from_start = task_models.continue_head(head, task, model)
    if recipe.max_length and reader.max_length < recipe.max_length:
        report_progress(f"max_length: {reader.max_length}, for the encoder takes no more")
    return Trainer(recipe, task, TaskModel(encoder, head).to(device), job.seed), from_start


def run_identity(job: FinetuningJob, shared: Shared) -> RunIdentity:
    """Return what is trained, by names and hashes."""
    checksums.check_folder(job.model)  # before errors of the training, which are recorded as results
    base_model, start_failed = task_models.previous_run(job.model)
    return {
        "seed": job.seed,
        "split": job.split,
        "dev_split": job.dev,
        "model": base_model,
        "model_sha256": shared.once(checksums.folder_sha256, job.model),
        "data_sha256": {name: shared.once(sha256, split_path(job.dataset, name)) for name in job.splits},
        "start_failed": start_failed,
        "search_failed": None,
    }


def outcome_without_training(
    job: FinetuningJob, shared: Shared, failed: str, searched: Iterable[str] | None = None
) -> Outcome:
    """Return the outcome of a run whose training failed, or that of a run that it depends on, or all trials
    of its search. `searched`: the recipe's keys that these were to decide; they are null in the report."""
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
    if searched is not None:
        report["recipe"] |= dict.fromkeys(searched)
        report["search_failed"] = failed
    wanted, key = read_data(job, shared)[job.split], TASKS[job.recipe.task].key
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
