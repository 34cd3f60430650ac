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

from pubmill.errors import run
from pubmill.inspection.converted_datasets import check_name, converted_folder, specs_of_results
from pubmill.recipes.submissions import System
from pubmill.storage.privacy import keep_private
from pubmill.submissions.inputs_without_gold import TEMPLATES, write_inputs
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
    found = specs_of_results(ROOT, arguments.results)
    specs, name = found.datasets, arguments.dataset
    check_name(found, name)
    folder = converted_folder(ROOT, arguments.results, name)
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
