"""Fine-tune a model on a dataset with one seed or several, and predict one split.

    .venv/bin/python scripts/finetune.py --recipe JSON --model models/M --dataset datasets/D --seeds 1 2 3 \\
        --split test --output RUN/final/runs.json [--selected RUN/selected.json]

Outputs: for each seed a prediction for each example of the split (pubmill/metrics/records.py has the
forms), seed-N.predictions.jsonl.gz, and seed-N.training.json with losses, dev scores and provenance; with
--keep, task models; last the manifest, which names the files of all seeds. With --trials in place of
--recipe, the same for each point of a search, in a folder of its name. A training that would fail again, or
that had no model or no choice, predicts null and counts as done. Any other error (memory, disk, GPU) ends
with status 1; what is done stays, and the same command goes on. Needs only torch, transformers, pydantic.
The same command gives the same predictions; on a GPU only with PUBMILL_DETERMINISTIC=1.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # two runs on two cores take 1/6 of the time: pretrain.py

from pubmill import recipes
from pubmill.errors import PubmillError, run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.trial_selection import read_choice
from pubmill.job import check_alternatives, program
from pubmill.recipes.finetuning import TrialRecipes
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import seed_name


def main(
    model: Annotated[Path, "model folder"],
    dataset: Annotated[Path, "dataset folder (train, dev, test)"],
    seeds: Annotated[list[int], "seeds of the new layer, dropout and batches"],
    split: Annotated[Literal["dev", "test"], "split to predict"],
    output: Annotated[Path, "manifest to write, NAME.json; the files of seeds lie beside it"],
    recipe: Annotated[str | None, "FinetuningRecipe: JSON text or a JSON file"] = None,
    trials: Annotated[TrialRecipes | None, "recipes of points of a search"] = None,
    dev: Annotated[Literal["dev", "test", "none"], "split that selects the weights; none: the last"] = "dev",
    selected: Annotated[Path | None, "selected.json, whose values override the recipe"] = None,
    keep: Annotated[list[Path] | None, "folders of task models: of the first seed, the second..."] = None,
    version: Annotated[list[int] | None, "stage version; seeds of another are trained again"] = None,
) -> None:
    """Train and predict with each seed that is not done, then write the manifest."""
    check_alternatives(recipe=recipe, trials=trials)
    check_alternatives(trials=trials, selected=selected)
    if output.suffix != ".json":
        raise PubmillError(f"--output is {output}; expected the name of a manifest, NAME.json")
    keep_private([model, dataset])
    values, failed = read_choice(selected) if selected else ({}, None)
    points = {f"{name}/": one for name, one in trials.points.items()} if trials else {}
    if not trials:
        points[""] = recipes.read(recipes.FinetuningRecipe, recipe or "{}", values)
    jobs = {
        f"{folder}{seed_name(seed)}": FinetuningJob(
            resolved, model, dataset, seed, split, None if dev == "none" else dev
        )
        for folder, resolved in points.items()
        for seed in seeds
    }

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.finetuning.run import train_seeds

    kept = dict(zip(jobs, keep or (), strict=False))
    train_seeds(jobs, output, keep=kept, version=version or (), searched=values, search_failed=failed)


if __name__ == "__main__":
    run(program(main))
