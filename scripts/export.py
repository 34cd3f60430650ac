"""Write a dataset in the form in which others publish it, for use elsewhere.

    python scripts/export.py chemprot@blurb FOLDER [--results results/full]

Inputs:  the converted examples, RESULTS/datasets/DATASET; `snakemake` makes them (the message says how)
Outputs: the published form's files in FOLDER; where the published bytes are known, they are compared
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill import recipes
from pubmill.convert.published import PublishedRecipe, publish
from pubmill.errors import PubmillError, run
from pubmill.privacy import keep_private
from pubmill.specs import load
from pubmill.targets.datasets import published_recipe


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", help="as the spec is called, e.g. chemprot@blurb")
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--results", type=Path, default=Path("results/full"), help="results of a scale")
    arguments = parser.parse_args()
    scale = arguments.results.name
    if not (ROOT / "specs/scales" / f"{scale}.yaml").is_file():
        raise PubmillError(f"--results {arguments.results}: expected a folder named as a scale: results/full")
    specs = load(ROOT / "specs", scale).datasets
    name = arguments.dataset
    if name not in specs:
        raise PubmillError(f"there is no specs/datasets/{name}.yaml; datasets are {', '.join(specs)}")
    recipe = recipes.build(PublishedRecipe, published_recipe(name, specs[name]), name)
    examples = arguments.results / "datasets" / name
    if not (examples / "card.json").is_file():
        raise PubmillError(
            f"{examples} is not there yet. Make {examples}/card.json with snakemake, and with the "
            f"--configfile of a study of that scale (the demo needs none)."
        )
    keep_private([examples])
    for split, told in publish(recipe, examples, arguments.folder).items():
        known = {True: "the published bytes", False: "", None: "published bytes not known"}[told["equal"]]
        print(f"{arguments.folder / told['name']}: {split}, sha256 {told['sha256']} ({known})")


if __name__ == "__main__":
    run(main)
