"""Convert one dataset's files to examples, and check their counts.

Command: .venv/bin/python scripts/convert.py --recipe JSON --input ROLE=PATH ... --output datasets/DATASET
Inputs:  the dataset's source files, each with its role in the spec, and the recipe
         (pubmill.recipes.datasets.ConversionRecipe)
Outputs: the folder datasets/DATASET with train.jsonl.gz, dev.jsonl.gz, test.jsonl.gz and card.json
"""

from pathlib import Path
from typing import Annotated

from pubmill.convert.dataset import convert
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.datasets import ConversionRecipe
from pubmill.recipes.programs import program

SHOWN = ("examples", "sentences", "documents", "mentions", "questions")
"""Counts to print; the card has all of them."""


def main(
    recipe: ConversionRecipe,
    input_: Annotated[dict[str, Path], "a source file by its role; may be repeated"],
    output: Annotated[Path, "folder to write: examples and card.json"],
) -> None:
    card = convert(recipe, input_, output)
    for split, counts in card["counts"].items():
        shown = ", ".join(f"{name} {counts[name]}" for name in SHOWN if counts.get(name) is not None)
        print(f"{card['dataset']} {split}: {shown}; {counts['repeated_texts']} repeated")
    for found in card["overlaps"]:
        documents = "" if found["documents"] is None else f", {found['documents']} documents"
        print(
            f"{card['dataset']} {found['split']}: also in {found['with']}: {found['texts']} texts{documents}"
        )


if __name__ == "__main__":
    run(limited(program(main)))
