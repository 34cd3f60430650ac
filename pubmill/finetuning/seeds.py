"""All fine-tunings of a run in one process, which loads torch, the model and its data once.

Each seed's files are written whole as soon as it is done, with a digest of all that decides them. A job that
was killed, or that runs again for one more seed, trains only the others; each gives the same as alone.
"""

import gc
import hashlib
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.finetuning.finetuning_job import FinetuningJob, Shared
from pubmill.finetuning.lasting_errors import reason_of
from pubmill.finetuning.run import finetune_or_fail, not_chosen, read_data, run_identity, write_outcome
from pubmill.messages.progress import report_progress
from pubmill.metrics.run_manifests import write_manifest
from pubmill.recipes.reading import as_json
from pubmill.storage.blocks import MADE_FROM
from pubmill.storage.checksums import REPORT, is_as_written, is_whole, report_of
from pubmill.storage.files import read_json
from pubmill.storage.privacy import PUBLIC, access_of
from pubmill.storage.result_paths import PREDICTIONS


@dataclass(frozen=True, kw_only=True)
class NoChoice:
    """A search whose trials all failed, so that nothing is trained. `searched`: the recipe's keys that it was
    to decide; `failed`: why the first trial failed."""

    searched: Iterable[str]
    failed: str


def train_seeds(
    jobs: Mapping[str, FinetuningJob],
    manifest: Path,
    *,
    keep: Mapping[str, Path],
    version: Sequence[int],
    no_choice: NoChoice | None = None,
) -> None:
    """Train all jobs that are not done, in order, and write the manifest.

    `jobs`: stem of the files below the manifest's folder -> fine-tuning; all have one model and dataset.
    `keep`: stem -> folder for the task model. `version`: that of the stage. A training that would fail again
    is an outcome like others. Any other error ends the program; what is done stays. The `PubmillError` says
    what that is.
    """
    shared, done = Shared(), list[str]()
    for stem, job in jobs.items():
        read_data(job, shared)
        made_from = _digest(job, shared, version, no_choice)
        predictions, folder = manifest.parent / f"{stem}{PREDICTIONS}", keep.get(stem)
        if is_done(predictions, made_from, folder):
            report_progress(f"{stem} is done")
        else:
            try:
                if no_choice:
                    outcome = not_chosen(job, no_choice.searched, no_choice.failed, shared)
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


def _digest(job: FinetuningJob, shared: Shared, version: Sequence[int], no_choice: NoChoice | None) -> str:
    """Return the digest of all that decides the files of a fine-tuning."""
    failed = no_choice and no_choice.failed
    identity = {**run_identity(job, shared), "search_failed": failed}
    text = as_json({"version": list(version), "recipe": job.recipe, **identity})
    return hashlib.sha256(text.encode()).hexdigest()


def is_done(predictions: Path, made_from: str, folder: Path | None) -> bool:
    """Return whether a seed's files are there and whole, and made from the same; `folder`: that of the task
    model which is also needed. What is damaged is not done."""
    try:
        report = report_of(predictions)
        same = report.get(MADE_FROM) == made_from and predictions.is_file()
        if not same or not is_as_written(predictions, report):
            return False
        return not folder or (is_whole(folder) and read_json(folder / REPORT).get(MADE_FROM) == made_from)
    except PubmillError:
        return False
