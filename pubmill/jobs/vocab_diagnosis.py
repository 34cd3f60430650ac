"""Diagnose a vocabulary (or the tokenizer.json of a model) on datasets: subwords per word and entity
word, and words that are split or unknown; the output has no text of the datasets."""

from pathlib import Path

from pubmill.recipes.vocabs import FitRecipe
from pubmill.storage.files import sealed, write_json
from pubmill.vocabs.diagnosis import diagnose_datasets


def main(recipe: FitRecipe, vocab: Path, datasets: Path, output: Path) -> None:
    found = diagnose_datasets(recipe, vocab, datasets)
    write_json(output, sealed({"vocab": recipe.vocab, "datasets": found}))
    for dataset, splits in found.items():
        for split, figures in splits.items():
            words, entities = figures["words"], figures["entity_words"]
            mentions = f", {entities['subwords_per_word']:.3f} an entity word" if entities["words"] else ""
            print(f"{dataset}, {split}: {words['pieces']} pieces of {words['words']} words{mentions}")
