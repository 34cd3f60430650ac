"""Read the predictions of a system that is not fine-tuned here as those of a run.

    .venv/bin/python scripts/take_predictions.py --recipe JSON --predictions FILE --model NAME --seed 1 \\
        --dataset DATASET --results RESULTS --output RUNS/final/seed-1.predictions.jsonl.gz

Inputs:  the supplied file, the converted dataset, and the recipe (pubmill.recipes.submissions.SuppliedRecipe)
Outputs: the predictions, one line for each example, and in the same folder seed-1.training.json, in the
         format of a fine-tuning run although nothing is trained. A file that is refused writes nothing.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import PubmillError, run
from pubmill.extras.submissions.submission import runs_on
from pubmill.extras.submissions.supplied import report, supply
from pubmill.hardware.process_limits import limited
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.storage.checksums import write_predictions
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import BELOW, PREDICTIONS


def main() -> None:
    parser = argparse.ArgumentParser(description="Read predictions of a system that is not fine-tuned here.")
    parser.add_argument("--recipe", required=True, help="SuppliedRecipe: JSON text or a JSON file")
    parser.add_argument("--predictions", type=Path, required=True, help="the supplied file")
    parser.add_argument("--model", required=True, help="the system's name in tables")
    parser.add_argument("--seed", type=int, required=True, help="number of the system's run")
    parser.add_argument("--dataset", required=True, help="the predicted dataset")
    parser.add_argument("--results", type=Path, required=True, help="results folder with this dataset")
    parser.add_argument("--output", type=Path, required=True, help=f"predictions to write, NAME{PREDICTIONS}")
    arguments = parser.parse_args()
    output: Path = arguments.output
    if not output.name.endswith(PREDICTIONS):
        raise PubmillError(f"--output is {output}; its name must end in {PREDICTIONS}")
    recipe = recipes.read(SuppliedRecipe, arguments.recipe)
    dataset = arguments.results / BELOW.dataset(arguments.dataset)
    keep_private([dataset, arguments.predictions])
    others = [path for path in runs_on(arguments.results, arguments.dataset) if path != output]
    submission, reading = supply(recipe, arguments.predictions, dataset, others)
    notes = report(submission, reading, dataset, arguments.model, arguments.seed)
    write_predictions(output, submission.lines, notes)
    left = submission.reading
    print(
        f"{arguments.predictions}: {len(submission.lines)} predictions, {submission.form}; "
        f"{len(left.lost)} of {left.spans} spans fit no words, {len(left.unmapped)} answers have no mapping"
    )


if __name__ == "__main__":
    run(limited(main))
