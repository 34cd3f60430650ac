"""Convert one dataset's files, each by its role in the spec, to the examples of its splits, and check their
counts. Writes train.jsonl.gz, dev.jsonl.gz, test.jsonl.gz and card.json."""

from pathlib import Path

from pubmill.convert.dataset import convert
from pubmill.hardware.process_limits import limited
from pubmill.recipes.datasets import ConversionRecipe

SHOWN = ("examples", "sentences", "documents", "mentions", "questions")
"""Counts to print; the card has all of them."""


@limited
def main(recipe: ConversionRecipe, input_: dict[str, Path], output: Path) -> None:
    card = convert(recipe, input_, output)
    for split, counts in card["counts"].items():
        shown = ", ".join(f"{name} {counts[name]}" for name in SHOWN if counts.get(name) is not None)
        print(f"{card['dataset']} {split}: {shown}; {counts['repeated_texts']} repeated")
    for found in card["overlaps"]:
        documents = "" if found["documents"] is None else f", {found['documents']} documents"
        print(
            f"{card['dataset']} {found['split']}: also in {found['with']}: {found['texts']} texts{documents}"
        )
