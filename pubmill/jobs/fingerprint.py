"""Make the fingerprints with which copies among the documents of a corpus are found, for a block of shards:
FOLDER/part-NNNN.parquet of each (id, position, digest, and MinHashes of each document that is neither
excluded nor filtered out). `first`: the number of the block's first shard in the corpus and in `latest`."""

from functools import partial
from itertools import count
from pathlib import Path

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.duplicates import write_fingerprints
from pubmill.corpus.shards import reasons_digest
from pubmill.recipes.corpora import FingerprintRecipe
from pubmill.recipes.reading import as_json
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.result_paths import part_name


def main(
    shards: list[Path],
    first: int,
    latest: Path,
    folder: Path,
    output: Path,
    recipe: FingerprintRecipe,
    exclude: Path | None = None,
    version: list[str] | None = None,
) -> None:
    texts, excluded = EvaluationTexts.excluded(exclude)

    def item(index: int, shard: Path) -> Item:
        prints, selection = folder / part_name(index), recipe.selection
        make = partial(write_fingerprints, shard, index, latest, selection, texts, prints, recipe.similar)
        said = [digest_of(shard), reasons_digest(latest, index), excluded]
        return Item([prints], [version, as_json(recipe), *said], make)

    make_block(output, map(item, count(first), shards))
