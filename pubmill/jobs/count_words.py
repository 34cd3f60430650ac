"""Count the words of a block of parts of a corpus: FOLDER/part-NNNN.parquet of each part, sorted; readable
only by its owner if a part of the block is."""

from functools import partial
from pathlib import Path

from pubmill.recipes.reading import as_json
from pubmill.recipes.vocabs import CountingRecipe
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.parquet import access_of_parts
from pubmill.storage.privacy import keep_private
from pubmill.vocabs.word_counts import write_counts


def main(recipe: CountingRecipe, parts: list[Path], folder: Path, output: Path, version: str = "") -> None:
    keep_private(parts, access_of_parts(parts))

    def item(part: Path) -> Item:
        counts = folder / part.name
        make = partial(write_counts, part, recipe.splitting, counts)
        return Item([counts], [version, as_json(recipe), digest_of(part)], make)

    make_block(output, map(item, parts))
