"""Index the texts of datasets' dev and test splits, to look for them in a corpus.

    .venv/bin/python scripts/index_evaluation_texts.py --datasets results/small/datasets \\
        --output texts.parquet \\
        --recipe '{"datasets": [{"dataset": "bc2gm", "splits": ["dev", "test"], "pmids": false}]}'

Input: the examples of datasets, DATASET/SPLIT.jsonl.gz.
Output: for each text, its dataset, split, examples and PMID, and hashes of its word n-grams; no text.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.contamination import write_index
from pubmill.errors import run
from pubmill.recipes.corpora import IndexRecipe
from pubmill.recipes.programs import program
from pubmill.storage.privacy import keep_private


def main(
    datasets: Annotated[Path, "folder of the converted datasets"],
    output: Annotated[Path, "the index (parquet) to write"],
    recipe: IndexRecipe,
) -> None:
    keep_private(datasets / one.dataset for one in recipe.datasets)
    print(f"{write_index(output, recipe.datasets, datasets)} texts")


if __name__ == "__main__":
    run(program(main))
