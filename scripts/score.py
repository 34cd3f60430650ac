"""Score all seeds of a run: compare predictions with examples. Needs no GPU and no torch.

Command: .venv/bin/python scripts/score.py --recipe JSON --runs RUN/final/runs.json
         --examples datasets/DATASET/test.jsonl.gz --output RUN/final/records.json
Inputs:  the manifest of predictions and training reports, the examples of the same split, and the recipe
         (pubmill.recipes.scoring.ScoringRecipe), whose seed the manifest's take the place of
Outputs: for each seed the record seed-N.json (pubmill.metrics.records.Record), without metrics if the run
         failed, and seed-N.items.npz, the contributions of each document (pubmill.metrics.contributions);
         last the manifest of these files
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.metrics import SCORERS
from pubmill.metrics.collapse import CONSTANT
from pubmill.metrics.contributions import write_items
from pubmill.metrics.records import score_run, write_record
from pubmill.metrics.run_manifests import read_manifest
from pubmill.recipes.programs import program
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.storage.files import sealed, sha256, write_json
from pubmill.storage.result_paths import BELOW, RECORD, seed_name


def main(
    recipe: ScoringRecipe,
    runs: Annotated[Path, "manifest of the run's predictions"],
    examples: Annotated[Path, "examples of the split predicted"],
    output: Annotated[Path, "manifest of the records to write, .json"],
) -> None:
    written = list[Path]()
    for one in read_manifest(runs):
        of_seed = replace(recipe, seed=one.seed)
        record, items = score_run(of_seed, SCORERS[recipe.kind], one.predictions, examples, one.training)
        path = output.with_name(seed_name(one.seed, RECORD))
        written += [path, Path(BELOW.contributions(str(path)))]
        write_items(written[-1], items)
        write_record(path, record)
        metrics, metric = record.metrics, recipe.metric
        result = f"failed ({record.failed})" if metrics is None else f"{metrics[metric]:.4f}"
        result += f" ({CONSTANT})" if record.collapsed else ""
        print(f"{recipe.model} on {recipe.dataset} {recipe.split}, seed {one.seed}: {metric} {result}")
    write_json(output, sealed({"files": {path.name: sha256(path) for path in written}}))


if __name__ == "__main__":
    run(program(main))
