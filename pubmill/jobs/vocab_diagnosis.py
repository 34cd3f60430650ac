"""Diagnose a vocabulary (or the tokenizer.json of a model) on a dataset: subwords per word and per entity
word, splits, unknown words, and the pieces of the terms of gu2020 Table 1; the output has no text of the
dataset."""

from pathlib import Path

from pubmill.recipes.vocabs import FitRecipe
from pubmill.storage.files import sealed, write_json
from pubmill.vocabs.diagnosis import diagnose_dataset


def main(recipe: FitRecipe, vocab: Path, dataset: Path, output: Path) -> None:
    diagnosis = diagnose_dataset(recipe, vocab, dataset)
    write_json(output, sealed(diagnosis))
    for split, figures in diagnosis["splits"].items():
        words, entities = figures["words"], figures["entity_words"]
        mentions = f", {entities['subwords_per_word']:.3f} an entity word" if entities["words"] else ""
        print(f"{split}: {words['pieces']} pieces of {words['words']} words{mentions}")
