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
from pubmill.errors import run
from pubmill.graph.dataset_recipes import GENERAL, dataset_card, published_recipe
from pubmill.inspection.converted_datasets import check_name, converted_folder, specs_of_results
from pubmill.storage.files import writing
from pubmill.storage.privacy import keep_private


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
    found = specs_of_results(ROOT, arguments.results)
    specs, name = found.datasets, arguments.dataset
    check_name(found, name)
    recipe = published_recipe(name, specs[name], arguments.form)
    examples = converted_folder(ROOT, arguments.results, name)
    declared = specs[name].published and not arguments.form
    general = f"form {arguments.form}" if arguments.form else "no published form: a general one"
    otherwise = "published bytes not known" if declared else general
    keep_private([examples])
    for split, file in publish(recipe, examples, arguments.folder).items():
        known = "the published bytes" if file["equal"] else otherwise
        print(f"{arguments.folder / file['name']}: {split}, sha256 {file['sha256']} ({known})")
    if arguments.form == "hugging-face":
        with writing(arguments.folder / "README.md") as temporary:
            temporary.write_text(dataset_card(name, specs[name]), encoding="utf-8")


if __name__ == "__main__":
    run(main)
