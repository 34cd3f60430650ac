"""What is written of scored predictions: pubmill's own form, Every Eval Ever's, and BLURB's submission."""

import time
from collections.abc import Mapping
from pathlib import Path

import pubmill
from pubmill.extras.submissions import blurb, every_eval_ever
from pubmill.extras.submissions.scores import ScoredSubmission
from pubmill.storage.files import write_json, write_jsonl_gz
from pubmill.storage.privacy import write_label_beside
from pubmill.storage.result_paths import PREDICTIONS


def document_for_blurb(scored: ScoredSubmission) -> dict[str, blurb.BlurbDocument]:
    """Return the document of a dataset of BLURB by its name; nothing for other datasets."""
    dataset, lines = scored.recipe.dataset, scored.submission.lines
    if dataset not in blurb.NAMES:
        return {}
    if why := blurb.fault(lines):
        print(f"  not in the archive for BLURB: {why}")
        return {}
    model = scored.recipe.system.name if scored.recipe.system else "unnamed"
    return {dataset: blurb.document(dataset, model, scored.examples, lines)}


def write(folder: Path, scored: ScoredSubmission, seed: int) -> None:
    """Write predictions, scores and records of Every Eval Ever."""
    name = Path(scored.recipe.dataset, f"seed-{seed}")
    write_label_beside(folder / f"{name}.scores.json")
    write_jsonl_gz(folder / f"{name}{PREDICTIONS}", scored.submission.lines)
    write_json(folder / f"{name}.scores.json", scored.summary())
    every_eval_ever.write(folder / "every-eval-ever", scored, int(time.time()), pubmill.__version__)


def write_for_blurb(folder: Path, documents: Mapping[int, Mapping[str, blurb.BlurbDocument]]) -> None:
    """Write the documents of BLURB's datasets, by seed, as an archive for each seed that has any."""
    for seed, content in documents.items():
        if content:
            archive = folder / f"blurb.seed-{seed}.zip"
            write_label_beside(archive)
            blurb.write_archive(archive, content)
