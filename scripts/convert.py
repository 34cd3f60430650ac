"""Convert one dataset's files to examples, and check their counts.

Command: python scripts/convert.py --recipe JSON --input train=PATH --input dev=PATH --input test=PATH
         --output datasets/DATASET
Inputs:  the dataset's source files, one for each split, and the recipe
         (pubmill.convert.dataset.ConversionRecipe)
Outputs: the folder datasets/DATASET with train.jsonl.gz, dev.jsonl.gz, test.jsonl.gz and card.json
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.convert.dataset import ConversionRecipe, convert
from pubmill.errors import PubmillError, run


def main() -> None:
    parser = argparse.ArgumentParser(description="Convert one dataset's files to examples.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: a ConversionRecipe")
    parser.add_argument(
        "--input", required=True, action="append", metavar="SPLIT=PATH", help="source file of a split; repeat"
    )
    parser.add_argument("--output", required=True, type=Path, help="folder to write: examples and card.json")
    arguments = parser.parse_args()
    card = convert(
        recipes.read(ConversionRecipe, arguments.recipe), read_inputs(arguments.input), arguments.output
    )
    for split, counts in card["counts"].items():
        print(f"{card['dataset']} {split}: {counts['sentences']} sentences, {counts['mentions']} mentions")


def read_inputs(arguments: list[str]) -> dict[str, Path]:
    """Read the `SPLIT=PATH` arguments."""
    inputs: dict[str, Path] = {}
    for argument in arguments:
        split, equals, path = argument.partition("=")
        if not equals or not path or split in inputs:
            raise PubmillError(f"--input {argument}: expected SPLIT=PATH with each split once")
        inputs[split] = Path(path)
    return inputs


if __name__ == "__main__":
    run(main)
