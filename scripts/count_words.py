"""Count the words of a block of parts of a corpus.

    .venv/bin/python scripts/count_words.py --recipe JSON --parts corpora/CORPUS/part-0000.parquet ...
        --folder corpora/CORPUS/words/SPLITTING --output BLOCK.json

Inputs: corpus parts, and how to split words: {"splitting": "bert-uncased" | "bert-cased" | "byte-level"
| "white-space"} (pubmill.vocabs.word_counts).
Outputs: FOLDER/part-NNNN.parquet of each part: words and their counts, sorted; readable only by its owner if
a part of the block is; and the block's manifest.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.recipes.reading import as_json
from pubmill.recipes.vocabs import CountingRecipe
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.parquet import access_of_parts
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.word_counts import write_counts


def main(
    recipe: CountingRecipe,
    parts: Annotated[list[Path], "corpus parts to read"],
    folder: Annotated[Path, "folder of the counts"],
    output: Annotated[Path, "the block's manifest to write"],
    version: Annotated[str, "version of counting; parts are counted again by another one"] = "",
) -> None:
    keep_private(parts, access_of_parts(parts))

    def items() -> Iterator[Item]:
        for part in parts:
            counts = folder / part.name
            make = partial(write_counts, part, recipe.splitting, counts)
            yield Item([counts], [version, as_json(recipe), digest_of(part)], make)

    make_block(output, items())


if __name__ == "__main__":
    run(program(main))
