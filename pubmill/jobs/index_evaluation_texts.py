"""Index the texts of datasets' dev and test splits, to look for them in a corpus: for each text its dataset,
split, examples and PMID, and hashes of its word n-grams; no text."""

from pathlib import Path

from pubmill.corpus.contamination import write_index
from pubmill.recipes.corpora import IndexRecipe
from pubmill.storage.privacy import keep_private


def main(datasets: Path, output: Path, recipe: IndexRecipe) -> None:
    keep_private(datasets / one.dataset for one in recipe.datasets)
    print(f"{write_index(output, recipe.datasets, datasets)} texts")
