"""Count the words of one part of a corpus.

    .venv/bin/python scripts/count_words.py --recipe JSON --part corpora/CORPUS/part-0000.parquet
        --output corpora/CORPUS/words/SPLITTING/part-0000.parquet

Inputs: a corpus part, and how to split words: {"splitting": "bert-uncased" | "bert-cased" | "byte-level"
| "white-space"} (pubmill.vocabs.word_counts).
Output: a parquet file of words and their counts, sorted; readable only by its owner if the part is.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.recipes.vocabs import CountingRecipe
from pubmill.storage.parquet import access_of_parts
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.word_counts import write_counts


def main(
    recipe: CountingRecipe,
    part: Annotated[Path, "corpus part to read"],
    output: Annotated[Path, "parquet file to write"],
) -> None:
    keep_private([part], access_of_parts([part]))
    counted = write_counts(part, recipe.splitting, output)
    print(
        f"{output}: {len(counted.words)} distinct words of {counted.running} in {counted.documents} documents"
    )


if __name__ == "__main__":
    run(program(main))
