"""Convert one dataset's files to examples, and check their counts.

Command: .venv/bin/python scripts/convert.py --recipe JSON --input ROLE=PATH ... --output datasets/DATASET
Inputs:  the dataset's source files, each with its role in the spec, and the recipe
         (pubmill.recipes.datasets.ConversionRecipe)
Outputs: the folder datasets/DATASET with train.jsonl.gz, dev.jsonl.gz, test.jsonl.gz and card.json
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.convert.dataset import convert
from pubmill.errors import PubmillError, run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.datasets import ConversionRecipe

SHOWN = ("examples", "sentences", "documents", "mentions", "questions")
"""Counts to print; the card has all of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Convert one dataset's files to examples.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: a ConversionRecipe")
    parser.add_argument(
        "--input", required=True, action="append", metavar="ROLE=PATH", help="a source file; repeat"
    )
    parser.add_argument("--output", required=True, type=Path, help="folder to write: examples and card.json")
    arguments = parser.parse_args()
    card = convert(
        recipes.read(ConversionRecipe, arguments.recipe), read_inputs(arguments.input), arguments.output
    )
    for split, counts in card["counts"].items():
        shown = ", ".join(f"{name} {counts[name]}" for name in SHOWN if counts.get(name) is not None)
        print(f"{card['dataset']} {split}: {shown}; {counts['repeated_texts']} repeated")
    for found in card["overlaps"]:
        documents = "" if found["documents"] is None else f", {found['documents']} documents"
        print(
            f"{card['dataset']} {found['split']}: also in {found['with']}: {found['texts']} texts{documents}"
        )


def read_inputs(arguments: list[str]) -> dict[str, Path]:
    """Read the `ROLE=PATH` arguments."""
    inputs: dict[str, Path] = {}
    for argument in arguments:
        role, equals, path = argument.partition("=")
        if not equals or not path or role in inputs:
            raise PubmillError(f"--input {argument}: expected ROLE=PATH with each role once")
        inputs[role] = Path(path)
    return inputs


if __name__ == "__main__":
    run(limited(main))
