"""Find the copies among the documents of a corpus by the fingerprints of all parts: for each copy its shard,
position, reason, and the id of the document that is kept instead."""

from pathlib import Path

from pubmill.corpus.duplicates import write_duplicates
from pubmill.recipes.corpora import DuplicatesRecipe
from pubmill.storage.parquet import part_files


def main(fingerprints: Path, parts: int, output: Path, recipe: DuplicatesRecipe) -> None:
    write_duplicates(output, part_files(fingerprints, parts), recipe.similarity)
