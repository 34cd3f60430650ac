"""Score a run's kept model on the test split of another dataset with mentions of the same type.

    .venv/bin/python scripts/transfer.py --recipe JSON --model TASK_MODEL --examples test.jsonl.gz \\
        --output OUTPUT.json

Inputs: a task model that scripts/finetune.py --keep wrote, and the examples of the other dataset.
Output: scores by all metrics; without them where the run failed.
"""

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # as in scripts/pretrain.py

from pubmill import recipes
from pubmill.errors import run
from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import Scored
from pubmill.recipes.transfers import TransferRecipe
from pubmill.storage.files import sealed, sha256, write_json
from pubmill.storage.privacy import keep_private


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="JSON text or file: a TransferRecipe")
    parser.add_argument("--model", type=Path, required=True, help="task model folder")
    parser.add_argument("--examples", type=Path, required=True, help="examples of the other dataset")
    parser.add_argument("--output", type=Path, required=True, help="JSON file to write")
    arguments = parser.parse_args()
    keep_private([arguments.model, arguments.examples])
    recipe = recipes.read(TransferRecipe, arguments.recipe)
    values = {key: value for key, value in asdict(recipe).items() if key != "metric"}
    failed, scored = score(arguments.model, arguments.examples)
    found = {
        **values,
        "metrics": scored.metrics if scored else None,
        "counts": scored.counts if scored else None,
        "failed": failed,
        "data_sha256": sha256(arguments.examples),
    }
    write_json(arguments.output, sealed(found))
    reached = scored.metrics.get(recipe.metric) if scored else f"failed ({failed})"
    print(f"{recipe.trained_on} on {recipe.scored_on}, seed {recipe.seed}: {recipe.metric} {reached}")


def score(model: Path, path: Path) -> tuple[str | None, Scored | None]:
    """Return why the run failed, or the scores of its model."""
    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.extras.transfer.other_datasets import labels_for
    from pubmill.finetuning.predicting import choose_device
    from pubmill.finetuning.task_models import load_task_model, read_facts, start_failed
    from pubmill.prediction.annotating import Annotator

    if failed := start_failed(model):
        return failed, None
    annotator = Annotator(load_task_model(model, choose_device()), read_facts(model)["argument_types"], None)
    examples = list(read_examples(path, TokensExample))
    return None, SCORERS["tokens"](examples, labels_for(annotator, examples, str(path)), None)


if __name__ == "__main__":
    run(main)
