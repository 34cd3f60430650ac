"""Score one fine-tuned run: compare predictions with examples. Needs no GPU and no torch.

Command: .venv/bin/python scripts/score.py --recipe JSON --predictions RUN/seed-N.predictions.jsonl.gz
         --examples datasets/DATASET/test.jsonl.gz --training RUN/seed-N.training.json
         --output RUN/seed-N.json
Inputs:  the predictions, the examples of the same split, the trainer's training.json, and the recipe
         (pubmill.recipes.scoring.ScoringRecipe)
Outputs: the record RUN/seed-N.json (pubmill.metrics.records.Record), without metrics if the run failed, and
         RUN/seed-N.items.npz: the contributions of each document (pubmill.metrics.contributions)
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.metrics import SCORERS
from pubmill.metrics.collapse import CONSTANT
from pubmill.metrics.contributions import write_items
from pubmill.metrics.records import score_run, write_record
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.storage.result_paths import BELOW


def main() -> None:
    parser = argparse.ArgumentParser(description="Score one fine-tuned run.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: a ScoringRecipe")
    parser.add_argument("--predictions", required=True, type=Path, help="the run's .predictions.jsonl.gz")
    parser.add_argument("--examples", required=True, type=Path, help="examples of the split predicted")
    parser.add_argument("--training", required=True, type=Path, help="the run's .training.json")
    parser.add_argument("--output", required=True, type=Path, help="record to write, .json")
    arguments = parser.parse_args()
    recipe = recipes.read(ScoringRecipe, arguments.recipe)
    record, items = score_run(
        recipe, SCORERS[recipe.kind], arguments.predictions, arguments.examples, arguments.training
    )
    write_items(Path(BELOW.contributions(str(arguments.output))), items)
    write_record(arguments.output, record)
    result = f"failed ({record.failed})" if record.metrics is None else f"{record.metrics[recipe.metric]:.4f}"
    result += f" ({CONSTANT})" if record.collapsed else ""
    print(f"{recipe.model} on {recipe.dataset} {recipe.split}, seed {recipe.seed}: {recipe.metric} {result}")


if __name__ == "__main__":
    run(main)
