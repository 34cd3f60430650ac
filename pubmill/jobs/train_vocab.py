"""Learn a vocabulary from the word counts of a corpus: a folder that AutoTokenizer loads, with
diagnosis.json; readable only by its owner if the counts are."""

from pathlib import Path

from pubmill.recipes import VocabRecipe
from pubmill.storage.parquet import access_of_parts, part_files
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.training import train


def main(recipe: VocabRecipe, words: Path, parts: int, output: Path) -> None:
    counts = part_files(words, parts)
    keep_private(counts, access_of_parts(counts))
    diagnosis = train(recipe, counts, output)
    print(
        f"{output}: {diagnosis['size']} of {diagnosis['asked']} requested pieces, from "
        f"{diagnosis['documents']} documents; {diagnosis['subwords_per_word']:.3f} pieces per word, "
        f"{diagnosis['unknown_words']:.4%} of words unknown; {diagnosis['pruned_words']} words with fewer "
        f"than {diagnosis['minimum_count']} occurrences left out"
    )
