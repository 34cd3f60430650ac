"""Diagnose a vocabulary on a dataset: subwords per word and per entity word, splits, unknown words.

    .venv/bin/python scripts/vocab_diagnosis.py --recipe JSON --vocab vocabs/VOCAB --dataset datasets/DATASET
        --output vocabs/VOCAB/on/DATASET.json

Inputs: the folder of a vocabulary (or of a model, whose tokenizer.json is read), the folder of a converted
dataset, and the recipe (pubmill.recipes.vocabs.FitRecipe).
Output: a JSON file with figures by split, and the pieces of the terms of gu2020 Table 1; it contains no text
of the dataset.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes.vocabs import FitRecipe
from pubmill.storage.files import sealed, write_json
from pubmill.vocabs.dataset_fit import diagnose_dataset


def main() -> None:
    parser = argparse.ArgumentParser(description="Diagnose a vocabulary on a dataset.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: a FitRecipe")
    parser.add_argument("--vocab", required=True, type=Path, help="folder of the vocabulary")
    parser.add_argument("--dataset", required=True, type=Path, help="folder of the dataset")
    parser.add_argument("--output", required=True, type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    recipe = recipes.read(FitRecipe, arguments.recipe)
    diagnosis = diagnose_dataset(recipe, arguments.vocab, arguments.dataset)
    write_json(arguments.output, sealed(diagnosis))
    for split, figures in diagnosis["splits"].items():
        words, entities = figures["words"], figures["entity_words"]
        mentions = f", {entities['subwords_per_word']:.3f} an entity word" if entities["words"] else ""
        print(f"{split}: {words['pieces']} pieces of {words['words']} words{mentions}")


if __name__ == "__main__":
    run(main)
