"""Predict the mentions of a dataset's split with a finished spaCy pipeline.

    .venv/bin/python scripts/annotate.py --recipe '{"types": {"DISEASE": ""}}' --pipeline FOLDER \\
        --model NAME --examples datasets/D/test.jsonl.gz --split test \\
        --output RUN/final/runs.json

Inputs: a folder that spaCy's Language.to_disk wrote, and the examples of a split.
Outputs: beside the manifest seed-1.predictions.jsonl.gz, one line `{"id", "labels"}` for each example, and
seed-1.training.json, in the format of a fine-tuning run although nothing is trained. Needs spaCy.
"""

from pathlib import Path
from typing import Annotated, Literal

from pubmill.errors import run
from pubmill.metrics.run_manifests import write_manifest
from pubmill.prediction.spacy_pipelines import annotate
from pubmill.recipes.programs import program
from pubmill.recipes.scoring import AnnotationRecipe
from pubmill.storage.checksums import write_predictions
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import PREDICTIONS, seed_name


def main(
    recipe: AnnotationRecipe,
    pipeline: Annotated[Path, "folder with the pipeline's config.cfg"],
    model: Annotated[str, "the pipeline's name in tables"],
    examples: Annotated[Path, "examples of the split"],
    split: Annotated[Literal["dev", "test"], "which split they are"],
    output: Annotated[Path, "manifest to write"],
) -> None:
    keep_private([pipeline, examples])
    made = annotate(recipe, pipeline, model, examples, split)
    write_predictions(output.with_name(seed_name(1, PREDICTIONS)), made.predictions, made.report)
    write_manifest(output, [seed_name(1)])


if __name__ == "__main__":
    run(program(main))
