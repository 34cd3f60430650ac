"""Predict the mentions of a dataset's split with a finished spaCy pipeline.

    .venv/bin/python scripts/annotate.py --recipe '{"types": {"DISEASE": ""}}' --pipeline FOLDER \\
        --model NAME --examples datasets/D/test.jsonl.gz --split test \\
        --output RUNS/final/seed-1.predictions.jsonl.gz

Inputs: a folder that spaCy's Language.to_disk wrote, and the examples of a split.
Outputs: the predictions, one line `{"id", "labels"}` for each example, and in the same folder
seed-1.training.json, in the format of a fine-tuning run although nothing is trained. Needs spaCy.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import PubmillError, run
from pubmill.hardware.process_limits import limited
from pubmill.prediction.spacy_pipelines import annotate
from pubmill.recipes.scoring import AnnotationRecipe
from pubmill.storage.checksums import write_predictions
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import PREDICTIONS


def main() -> None:
    parser = argparse.ArgumentParser(description="Predict mentions with a finished spaCy pipeline.")
    parser.add_argument("--recipe", required=True, help="AnnotationRecipe: JSON text or a JSON file")
    parser.add_argument("--pipeline", type=Path, required=True, help="folder with the pipeline's config.cfg")
    parser.add_argument("--model", required=True, help="the pipeline's name in tables")
    parser.add_argument("--examples", type=Path, required=True, help="examples of the split")
    parser.add_argument("--split", choices=("dev", "test"), required=True, help="which split they are")
    parser.add_argument("--output", type=Path, required=True, help=f"predictions to write, NAME{PREDICTIONS}")
    arguments = parser.parse_args()
    if not arguments.output.name.endswith(PREDICTIONS):
        raise PubmillError(f"--output is {arguments.output}; its name must end in {PREDICTIONS}")
    recipe = recipes.read(AnnotationRecipe, arguments.recipe)
    keep_private([arguments.pipeline, arguments.examples])
    made = annotate(recipe, arguments.pipeline, arguments.model, arguments.examples, arguments.split)
    write_predictions(arguments.output, made.predictions, made.report)


if __name__ == "__main__":
    run(limited(main))
