"""Find the copies among the documents of a corpus.

    .venv/bin/python scripts/find_duplicates.py --fingerprints corpora/CORPUS/fingerprints --parts 2 \\
        --output duplicates.parquet --recipe '{"similarity": 0.8}'

Input: the fingerprints of all parts (part-0000.parquet ...).
Output: for each copy, its shard, position, reason, and the id of the document that is kept instead.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.duplicates import write_duplicates
from pubmill.errors import run
from pubmill.recipes.corpora import DuplicatesRecipe
from pubmill.recipes.programs import program
from pubmill.storage.parquet import part_files


def main(
    fingerprints: Annotated[Path, "folder of the fingerprints"],
    parts: Annotated[int, "number of parts"],
    output: Annotated[Path, "duplicates.parquet to write"],
    recipe: DuplicatesRecipe,
) -> None:
    write_duplicates(output, part_files(fingerprints, parts), recipe.similarity)


if __name__ == "__main__":
    run(program(main))
