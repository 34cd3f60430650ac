"""Index the texts of datasets' dev and test splits, to look for them in a corpus.

    .venv/bin/python scripts/index_evaluation_texts.py --datasets results/small/datasets \\
        --output texts.parquet \\
        --recipe '{"datasets": [{"dataset": "bc2gm", "splits": ["dev", "test"], "pmids": false}]}'

Input: the examples of datasets, DATASET/SPLIT.jsonl.gz.
Output: for each text, its dataset, split, examples and PMID, and hashes of its word n-grams; no text.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.contamination import write_index
from pubmill.errors import run
from pubmill.recipes.corpora import IndexRecipe
from pubmill.storage.privacy import keep_private


def main() -> None:
    parser = argparse.ArgumentParser(description="Index the texts of datasets' dev and test splits.")
    parser.add_argument("--datasets", type=Path, required=True, help="folder of the converted datasets")
    parser.add_argument("--output", type=Path, required=True, help="the index (parquet) to write")
    parser.add_argument(
        "--recipe",
        required=True,
        help='JSON: {"datasets": [{"dataset": ..., "splits": [...], "pmids": false}]}',
    )
    arguments = parser.parse_args()
    recipe = recipes.read(IndexRecipe, arguments.recipe)
    keep_private(arguments.datasets / one.dataset for one in recipe.datasets)
    print(f"{write_index(arguments.output, recipe.datasets, arguments.datasets)} texts")


if __name__ == "__main__":
    run(main)
