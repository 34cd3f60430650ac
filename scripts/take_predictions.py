"""Read the predictions of a system that is not fine-tuned here as those of a run.

    .venv/bin/python scripts/take_predictions.py --recipe JSON \\
        --predictions FILE --model NAME --seed 1 \\
        --dataset DATASET --results RESULTS --output RUNS/final/seed-1.predictions.jsonl.gz

Inputs:  the supplied file, the converted dataset, and the recipe (pubmill.recipes.submissions.SuppliedRecipe)
Outputs: the predictions, one line for each example, and in the same folder seed-1.training.json, in the
         format of a fine-tuning run although nothing is trained. A file that is refused writes nothing.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import PubmillError, run
from pubmill.hardware.process_limits import limited
from pubmill.predictions.submission import runs_on
from pubmill.predictions.supplied import report, supply, with_cost
from pubmill.recipes.programs import program
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.storage.checksums import write_predictions
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import BELOW, PREDICTIONS


def main(
    recipe: SuppliedRecipe,
    predictions: Annotated[Path, "the supplied file"],
    model: Annotated[str, "the system's name in tables"],
    seed: Annotated[int, "number of the system's run"],
    dataset: Annotated[str, "the predicted dataset"],
    results: Annotated[Path, "results folder with this dataset"],
    output: Annotated[Path, f"predictions to write, NAME{PREDICTIONS}"],
) -> None:
    if not output.name.endswith(PREDICTIONS):
        raise PubmillError(f"--output is {output}; its name must end in {PREDICTIONS}")
    examples = results / BELOW.dataset(dataset)
    keep_private([examples, predictions])
    others = [path for path in runs_on(results, dataset) if path != output]
    submission, reading = supply(recipe, predictions, examples, others)
    notes = report(submission, reading, examples, model, seed)
    if recipe.asked:
        notes = with_cost(notes, submission, predictions, recipe.price)
    write_predictions(output, submission.lines, notes)
    left = submission.reading
    print(
        f"{predictions}: {len(submission.lines)} predictions, {submission.form}; "
        f"{len(left.lost)} of {left.spans} spans fit no words, {len(left.unmapped)} answers have no mapping"
    )


if __name__ == "__main__":
    run(limited(program(main)))
