"""Find the copies among the documents of a corpus.

    .venv/bin/python scripts/find_duplicates.py --fingerprints corpora/CORPUS/fingerprints --parts 2 \\
        --output duplicates.parquet --recipe '{"similarity": 0.8}'

Input: the fingerprints of all parts (part-0000.parquet ...).
Output: for each copy, its shard, position, reason, and the id of the document that is kept instead.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.duplicates import write_duplicates
from pubmill.errors import run
from pubmill.recipes.corpora import DuplicatesRecipe
from pubmill.storage.corpus_parts import part_files


def main() -> None:
    parser = argparse.ArgumentParser(description="Find the copies among the documents of a corpus.")
    parser.add_argument("--fingerprints", type=Path, required=True, help="folder of the fingerprints")
    parser.add_argument("--parts", type=int, required=True, help="number of parts")
    parser.add_argument("--output", type=Path, required=True, help="duplicates.parquet to write")
    parser.add_argument("--recipe", required=True, help='JSON: {"similarity": 0.8 or null}')
    arguments = parser.parse_args()
    recipe = recipes.read(DuplicatesRecipe, arguments.recipe)
    parts = part_files(arguments.fingerprints, arguments.parts)
    write_duplicates(arguments.output, parts, recipe.similarity)


if __name__ == "__main__":
    run(main)
