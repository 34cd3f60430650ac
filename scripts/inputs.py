"""Write the test inputs of a converted dataset without gold, so that other systems can predict them.

    .venv/bin/python scripts/inputs.py chemprot@blurb FOLDER [--results results/full]

Inputs:  the converted examples, RESULTS/datasets/DATASET (if they are missing, a message explains how to
         make them)
Outputs: in FOLDER the inputs with their ids in every form that scripts/score_submission.py reads, as prompts
         (prompts.jsonl), and mapping.json, to be completed for answers of language models
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import PubmillError, run
from pubmill.messages import commands
from pubmill.messages.nearest_names import unknown
from pubmill.recipes.submissions import System
from pubmill.specs import load
from pubmill.specs.study import study_of_scale
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import BELOW, CARD
from pubmill.submissions.inputs import TEMPLATES, write_inputs
from pubmill.submissions.scores import examples_of
from pubmill.submissions.submission import check_access, recipe_of

HERE = System(name="not known yet", version="-", prompt="-", local=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", help="name of the spec, for example chemprot@blurb")
    parser.add_argument("folder", type=Path, help="folder to write")
    parser.add_argument("--results", type=Path, default=Path("results/full"), help="results of a scale")
    parser.add_argument(
        "--local", action="store_true", help="the inputs stay on machines of your own (credentialed datasets)"
    )
    arguments = parser.parse_args()
    scale = arguments.results.name
    if not (ROOT / "specs/scales" / f"{scale}.yaml").is_file():
        raise PubmillError(f"--results {arguments.results}: expected a folder named as a scale: results/full")
    specs = load(ROOT / "specs", scale).datasets
    name = arguments.dataset
    if name not in specs:
        raise PubmillError(unknown("dataset", name, specs))
    folder = arguments.results / BELOW.dataset(name)
    if not (folder / CARD).is_file():
        study = study_of_scale(scale, ROOT / "studies", str(folder))
        options = commands.configuration_options(study)
        command = commands.snakemake(f"{folder / CARD}", configuration=options)
        raise PubmillError(f"{folder} is not there yet. Make it: {command}")
    keep_private([folder])
    recipe = recipe_of(folder, HERE if arguments.local else None, dummies=specs[name].dummies)
    check_access(recipe)
    template = specs[name].prompt or TEMPLATES[specs[name].task]
    examples = examples_of(folder, recipe)
    for path in write_inputs(arguments.folder, examples, recipe, template):
        print(path)
    print(f"{name} {recipe.split}: inputs of {len(examples)} examples, without gold")


if __name__ == "__main__":
    run(main)
