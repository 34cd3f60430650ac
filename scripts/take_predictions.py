"""Read the predictions of a system that is not fine-tuned here as those of a run, with all its seeds.

    .venv/bin/python scripts/take_predictions.py --recipe JSON \\
        --predictions FILE FILE --model NAME --seeds 1 2 \\
        --dataset DATASET --results RESULTS --output RUN/final/runs.json

Inputs:  a supplied file for each seed, the converted dataset, and the recipe
         (pubmill.recipes.submissions.SuppliedRecipe)
Outputs: beside the manifest seed-N.predictions.jsonl.gz, one line for each example, and
         seed-N.training.json, in the format of a fine-tuning run although nothing is trained. A file that is
         refused writes nothing.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.metrics.run_manifests import write_manifest
from pubmill.predictions.submission import runs_on
from pubmill.predictions.supplied import report, supply, with_cost
from pubmill.recipes.programs import program
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.storage.checksums import write_predictions
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import BELOW, PREDICTIONS, seed_name


def main(
    recipe: SuppliedRecipe,
    predictions: Annotated[list[Path], "the supplied files"],
    model: Annotated[str, "the system's name in tables"],
    seeds: Annotated[list[int], "the numbers of the system's runs, one for each file"],
    dataset: Annotated[str, "the predicted dataset"],
    results: Annotated[Path, "results folder with this dataset"],
    output: Annotated[Path, "manifest to write"],
) -> None:
    examples = results / BELOW.dataset(dataset)
    keep_private([examples, *predictions])
    known = [path for path in runs_on(results, dataset) if path.parent != output.parent]
    for seed, file in zip(seeds, predictions, strict=True):
        submission, reading = supply(recipe, file, examples, known)
        notes = report(submission, reading, examples, model, seed)
        if recipe.asked:
            notes = with_cost(notes, submission, file, recipe.price)
        known.append(output.with_name(seed_name(seed, PREDICTIONS)))
        write_predictions(known[-1], submission.lines, notes)
        left = submission.reading
        print(
            f"{file}: {len(submission.lines)} predictions, {submission.form}; {len(left.lost)} of "
            f"{left.spans} spans fit no words, {len(left.unmapped)} answers have no mapping"
        )
    write_manifest(output, list(map(seed_name, seeds)))


if __name__ == "__main__":
    run(limited(program(main)))
