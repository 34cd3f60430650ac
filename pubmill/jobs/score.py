"""Score all seeds of a run: compare predictions with the examples of the same split. Writes for each seed the
record seed-N.json (pubmill.metrics.records.Record), without metrics if the run failed, and seed-N.items.npz,
the contributions of each document; last the manifest of these files. The seeds are the manifest's."""

from dataclasses import replace
from pathlib import Path

from pubmill.metrics import SCORERS
from pubmill.metrics.collapse import CONSTANT
from pubmill.metrics.contributions import write_items
from pubmill.metrics.records import score_run, write_record
from pubmill.metrics.run_manifests import read_manifest
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.storage.files import sealed, sha256, write_json
from pubmill.storage.result_paths import RECORD, RELATIVE, seed_name


def main(recipe: ScoringRecipe, runs: Path, examples: Path, output: Path) -> None:
    written = list[Path]()
    for one in read_manifest(runs):
        of_seed = replace(recipe, seed=one.seed)
        record, items = score_run(of_seed, SCORERS[recipe.kind], one.predictions, examples, one.training)
        path = output.with_name(seed_name(one.seed, RECORD))
        written += [path, Path(RELATIVE.contributions(str(path)))]
        write_items(written[-1], items)
        write_record(path, record)
        metrics, metric = record.metrics, recipe.metric
        result = f"failed ({record.failed})" if metrics is None else f"{metrics[metric]:.4f}"
        result += f" ({CONSTANT})" if record.collapsed else ""
        print(f"{recipe.model} on {recipe.dataset} {recipe.split}, seed {one.seed}: {metric} {result}")
    write_json(output, sealed({"files": {path.name: sha256(path) for path in written}}))
