"""Predict the mentions of a dataset's split with a finished spaCy pipeline, in the format of a fine-tuning
run although nothing is trained: beside the manifest seed-1.predictions.jsonl.gz and seed-1.training.json."""

from pathlib import Path
from typing import Literal

from pubmill.metrics.run_manifests import write_manifest
from pubmill.prediction.spacy_pipelines import annotate
from pubmill.recipes.scoring import AnnotationRecipe
from pubmill.storage.checksums import write_predictions
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import PREDICTIONS, seed_name


def main(
    recipe: AnnotationRecipe,
    pipeline: Path,
    model: str,
    examples: Path,
    split: Literal["dev", "test"],
    output: Path,
) -> None:
    keep_private([pipeline, examples])
    predictions, report = annotate(recipe, pipeline, model, examples, split)
    write_predictions(output.with_name(seed_name(1, PREDICTIONS)), predictions, report)
    write_manifest(output, [seed_name(1)])
