"""Make the fingerprints with which copies among the documents of a corpus are found.

    .venv/bin/python scripts/fingerprint.py --shard 26n0001.parquet --index 0 --latest latest.parquet \\
        --output fingerprints/part-0000.parquet --recipe '{"selection": {"min_words": 128}, "similar": true}'

Inputs: a parsed shard, its index in `latest.parquet`, and that file; the excluded texts, if any.
Output: id, position, digest, and MinHashes of each document that is neither excluded nor filtered out.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.fingerprints import write_fingerprints
from pubmill.errors import run
from pubmill.recipes.corpora import FingerprintRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the fingerprints with which copies are found.")
    parser.add_argument("--shard", type=Path, required=True, help="the parsed shard")
    parser.add_argument("--index", type=int, required=True, help="index of the shard in the list of --latest")
    parser.add_argument("--latest", type=Path, required=True, help="latest.parquet of the corpus")
    parser.add_argument("--exclude", type=Path, help="index of texts that the corpus must not contain")
    parser.add_argument("--output", type=Path, required=True, help="the fingerprints (parquet) to write")
    parser.add_argument("--recipe", required=True, help='JSON: {"selection": {...}, "similar": true}')
    arguments = parser.parse_args()
    recipe = recipes.read(FingerprintRecipe, arguments.recipe)
    count = write_fingerprints(
        arguments.shard, arguments.index, arguments.latest, recipe.selection,
        EvaluationTexts(arguments.exclude) if arguments.exclude else None, arguments.output, recipe.similar,
    )  # fmt: skip
    print(f"{arguments.shard.name}: {count} documents")


if __name__ == "__main__":
    run(main)
