"""Score one fine-tuned run: compare predictions with examples. Needs no GPU and no torch.

Command: .venv/bin/python scripts/score.py --recipe JSON --predictions RUN/seed-N.predictions.jsonl.gz
         --examples datasets/DATASET/test.jsonl.gz --training RUN/seed-N.training.json
         --output RUN/seed-N.json
Inputs:  the predictions, the examples of the same split, the trainer's training.json, and the recipe
         (pubmill.recipes.scoring.ScoringRecipe)
Outputs: the record RUN/seed-N.json (pubmill.metrics.records.Record), without metrics if the run failed, and
         RUN/seed-N.items.npz: the contributions of each document (pubmill.metrics.contributions)
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.metrics import SCORERS
from pubmill.metrics.collapse import CONSTANT
from pubmill.metrics.contributions import write_items
from pubmill.metrics.records import score_run, write_record
from pubmill.recipes.programs import program
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.storage.result_paths import BELOW


def main(
    recipe: ScoringRecipe,
    predictions: Annotated[Path, "the run's .predictions.jsonl.gz"],
    examples: Annotated[Path, "examples of the split predicted"],
    training: Annotated[Path, "the run's .training.json"],
    output: Annotated[Path, "record to write, .json"],
) -> None:
    record, items = score_run(recipe, SCORERS[recipe.kind], predictions, examples, training)
    write_items(Path(BELOW.contributions(str(output))), items)
    write_record(output, record)
    result = f"failed ({record.failed})" if record.metrics is None else f"{record.metrics[recipe.metric]:.4f}"
    result += f" ({CONSTANT})" if record.collapsed else ""
    print(f"{recipe.model} on {recipe.dataset} {recipe.split}, seed {recipe.seed}: {recipe.metric} {result}")


if __name__ == "__main__":
    run(program(main))
