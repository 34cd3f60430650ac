"""Count the words of one part of a corpus.

    .venv/bin/python scripts/count_words.py --recipe JSON --part corpora/CORPUS/part-0000.parquet
        --output corpora/CORPUS/words/SPLITTING/part-0000.parquet

Inputs: a corpus part, and how to split words: {"splitting": "bert-uncased" | "bert-cased" | "byte-level"
| "white-space"} (pubmill.vocabs.word_counts).
Output: a parquet file of words and their counts, sorted; readable only by its owner if the part is.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes.vocabs import CountingRecipe
from pubmill.storage.corpus_parts import access_of_parts
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.word_counts import write_counts


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the words of a corpus part.")
    parser.add_argument("--recipe", required=True, help="JSON text or file: a CountingRecipe")
    parser.add_argument("--part", required=True, type=Path, help="corpus part to read")
    parser.add_argument("--output", required=True, type=Path, help="parquet file to write")
    arguments = parser.parse_args()
    recipe = recipes.read(CountingRecipe, arguments.recipe)
    keep_private([arguments.part], access_of_parts([arguments.part]))
    counted = write_counts(arguments.part, recipe.splitting, arguments.output)
    print(
        f"{arguments.output}: {len(counted.words)} distinct words of {counted.running} in "
        f"{counted.documents} documents"
    )


if __name__ == "__main__":
    run(main)
