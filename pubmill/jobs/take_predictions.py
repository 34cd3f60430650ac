"""Read the predictions of a system that is not fine-tuned here, a file for each seed, as those of a run, in
the format of a fine-tuning run although nothing is trained. A file that is refused writes nothing."""

from pathlib import Path

from pubmill.hardware.process_limits import limited
from pubmill.metrics.run_manifests import write_manifest
from pubmill.predictions.submission import runs_on
from pubmill.predictions.supplied import report, supply, with_cost
from pubmill.recipes.submissions import SuppliedRecipe
from pubmill.storage.checksums import write_predictions
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import PREDICTIONS, RELATIVE, seed_name


@limited
def main(
    recipe: SuppliedRecipe,
    predictions: list[Path],
    model: str,
    seeds: list[int],
    dataset: str,
    results: Path,
    output: Path,
) -> None:
    examples = results / RELATIVE.dataset(dataset)
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
