"""Write a dataset in the format in which others publish it, or in a general format, for use elsewhere.

    .venv/bin/python scripts/export.py chemprot@blurb FOLDER [--form bioc] [--results results/full]

Inputs:  the converted examples, RESULTS/datasets/DATASET (if they are missing, a message explains how to
         make them)
Outputs: the files of the published form in FOLDER, compared with the published bytes if these are known. A
         dataset whose spec declares no such form is written as CoNLL columns, a table or JSON lines,
         depending on its kind. --form: CoNLL columns, JSON lines, BioC, or JSON lines with the README.md by
         which Hugging Face's `load_dataset` reads the folder
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.convert.exports import publish
from pubmill.errors import PubmillError, run
from pubmill.graph.dataset_recipes import GENERAL, dataset_card, published_recipe
from pubmill.messages import commands
from pubmill.messages.nearest_names import unknown
from pubmill.specs import load
from pubmill.specs.study import study_of_scale
from pubmill.storage.files import writing
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import BELOW, CARD


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", help="name of the spec, for example chemprot@blurb")
    parser.add_argument("folder", type=Path, help="folder to write")
    parser.add_argument(
        "--form", choices=sorted(GENERAL), help="a general form, instead of the published one"
    )
    parser.add_argument("--results", type=Path, default=Path("results/full"), help="results of a scale")
    arguments = parser.parse_args()
    scale = arguments.results.name
    if not (ROOT / "specs/scales" / f"{scale}.yaml").is_file():
        raise PubmillError(f"--results {arguments.results}: expected a folder named as a scale: results/full")
    specs = load(ROOT / "specs", scale).datasets
    name = arguments.dataset
    if name not in specs:
        raise PubmillError(unknown("dataset", name, specs))
    recipe = published_recipe(name, specs[name], arguments.form)
    examples = arguments.results / BELOW.dataset(name)
    if not (examples / CARD).is_file():
        study = study_of_scale(scale, ROOT / "studies", str(examples))
        options = commands.configuration_options(study)
        command = commands.snakemake(f"{examples / CARD}", configuration=options)
        raise PubmillError(f"{examples} is not there yet. Make it: {command}")
    declared = specs[name].published and not arguments.form
    otherwise = "published bytes not known" if declared else "no published form: a general one"
    keep_private([examples])
    for split, file in publish(recipe, examples, arguments.folder).items():
        known = "the published bytes" if file["equal"] else otherwise
        print(f"{arguments.folder / file['name']}: {split}, sha256 {file['sha256']} ({known})")
    if arguments.form == "hugging-face":
        with writing(arguments.folder / "README.md") as temporary:
            temporary.write_text(dataset_card(name, specs[name]), encoding="utf-8")


if __name__ == "__main__":
    run(main)
