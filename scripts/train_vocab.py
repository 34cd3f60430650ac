"""Learn a vocabulary from a corpus.

    python scripts/train_vocab.py --recipe JSON --corpus corpora/CORPUS --parts N --output vocabs/VOCAB

Inputs: the parts of a corpus, and the recipe (pubmill.vocabs.wordpiece.WordPieceRecipe).
Outputs: the folder vocabs/VOCAB with tokenizer.json, tokenizer_config.json, vocab.txt (loads with
AutoTokenizer) and diagnosis.json.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.parts import part_files
from pubmill.vocabs.wordpiece import WordPieceRecipe, train


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a vocabulary from a corpus.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: a WordPieceRecipe")
    parser.add_argument("--corpus", required=True, type=Path, help="folder of the corpus, with its parts")
    parser.add_argument("--parts", required=True, type=int, help="how many parts it has")
    parser.add_argument("--output", required=True, type=Path, help="folder to write")
    arguments = parser.parse_args()
    parts = part_files(arguments.corpus, arguments.parts)
    recipe = recipes.read(WordPieceRecipe, arguments.recipe)
    diagnosis = train(recipe, parts, arguments.output)
    print(
        f"{arguments.output}: {diagnosis['size']} pieces of {diagnosis['asked']} asked for, from "
        f"{diagnosis['documents']} documents; {diagnosis['subwords_per_word']:.3f} pieces a word, "
        f"{diagnosis['unknown_words']:.4%} of words unknown"
    )


if __name__ == "__main__":
    run(main)
