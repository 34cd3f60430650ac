"""Learn a vocabulary from the word counts of a corpus.

    .venv/bin/python scripts/train_vocab.py --recipe JSON --words corpora/CORPUS/words/SPLITTING --parts N
        --output vocabs/VOCAB

Inputs: the word counts of the parts of a corpus (scripts/count_words.py), and the recipe
(pubmill.recipes.VocabRecipe).
Output: the folder vocabs/VOCAB, which AutoTokenizer loads, with tokenizer.json, tokenizer_config.json, the
vocabulary in the format of its kind (vocab.txt; vocab.json and merges.txt; spiece.model), and diagnosis.json;
readable only by its owner if the counts are.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes import VocabRecipe
from pubmill.storage.corpus_parts import access_of_parts, part_files
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.training import train


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a vocabulary from a corpus's word counts.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: a VocabRecipe")
    parser.add_argument("--words", required=True, type=Path, help="folder with the counts of the parts")
    parser.add_argument("--parts", required=True, type=int, help="number of parts")
    parser.add_argument("--output", required=True, type=Path, help="folder to write")
    arguments = parser.parse_args()
    recipe = recipes.read(VocabRecipe, arguments.recipe)
    counts = part_files(arguments.words, arguments.parts)
    keep_private(counts, access_of_parts(counts))
    diagnosis = train(recipe, counts, arguments.output)
    print(
        f"{arguments.output}: {diagnosis['size']} of {diagnosis['asked']} requested pieces, from "
        f"{diagnosis['documents']} documents; {diagnosis['subwords_per_word']:.3f} pieces per word, "
        f"{diagnosis['unknown_words']:.4%} of words unknown; {diagnosis['pruned_words']} words with fewer "
        f"than {diagnosis['minimum_count']} occurrences left out"
    )


if __name__ == "__main__":
    run(main)
