"""Diagnose a vocabulary on a dataset: subwords per word and per entity word, splits, unknown words.

    .venv/bin/python scripts/vocab_diagnosis.py --recipe JSON --vocab vocabs/VOCAB --dataset datasets/DATASET
        --output vocabs/VOCAB/on/DATASET.json

Inputs: the folder of a vocabulary (or of a model, whose tokenizer.json is read), the folder of a converted
dataset, and the recipe (pubmill.recipes.vocabs.FitRecipe).
Output: a JSON file with figures by split, and the pieces of the terms of gu2020 Table 1; it contains no text
of the dataset.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.recipes.vocabs import FitRecipe
from pubmill.storage.files import sealed, write_json
from pubmill.vocabs.dataset_fit import diagnose_dataset


def main(
    recipe: FitRecipe,
    vocab: Annotated[Path, "folder of the vocabulary"],
    dataset: Annotated[Path, "folder of the dataset"],
    output: Annotated[Path, "JSON file to write"],
) -> None:
    diagnosis = diagnose_dataset(recipe, vocab, dataset)
    write_json(output, sealed(diagnosis))
    for split, figures in diagnosis["splits"].items():
        words, entities = figures["words"], figures["entity_words"]
        mentions = f", {entities['subwords_per_word']:.3f} an entity word" if entities["words"] else ""
        print(f"{split}: {words['pieces']} pieces of {words['words']} words{mentions}")


if __name__ == "__main__":
    run(program(main))
