"""Score a run's kept model on the test split of another dataset with mentions of the same type.

    .venv/bin/python pubmill/extras/transfer/programs/transfer.py --recipe JSON --model TASK_MODEL \\
        --examples test.jsonl.gz --output OUTPUT.json

Inputs: a task model that scripts/finetune.py --keep wrote, and the examples of the other dataset.
Output: scores by all metrics; without them where the run failed.
"""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # as in scripts/pretrain.py

from pubmill.errors import run
from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.extras.transfer.transfers import TransferRecipe
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import Scored
from pubmill.recipes.programs import program
from pubmill.storage.files import sealed, sha256, write_json
from pubmill.storage.privacy import keep_private


def main(
    recipe: TransferRecipe,
    model: Annotated[Path, "task model folder"],
    examples: Annotated[Path, "examples of the other dataset"],
    output: Annotated[Path, "JSON file to write"],
) -> None:
    keep_private([model, examples])
    failed, scored = score(model, examples)
    record = {
        **{key: value for key, value in asdict(recipe).items() if key != "metric"},
        "metrics": scored.metrics if scored else None,
        "counts": scored.counts if scored else None,
        "failed": failed,
        "data_sha256": sha256(examples),
    }
    write_json(output, sealed(record))
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
    run(program(main))
