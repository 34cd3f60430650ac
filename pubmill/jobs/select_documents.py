"""Select the documents of a corpus from a block of parsed shards: of each FOLDER/part-NNNN.parquet (id,
version, date, title, text, words, bytes), and part-NNNN.json, what was rejected and why. `first`: the number
of the block's first shard in the corpus and in `latest`; `exclude`: an index of texts that the corpus must
not contain."""

from functools import partial
from itertools import count
from pathlib import Path

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.shards import reasons_digest
from pubmill.corpus.statistics import select
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.recipes.reading import as_json
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.result_paths import part_name


def main(
    shards: list[Path],
    first: int,
    latest: Path,
    folder: Path,
    output: Path,
    recipe: SelectionRecipe,
    exclude: Path | None = None,
    duplicates: Path | None = None,
    version: str = "",
) -> None:
    texts, excluded = EvaluationTexts.excluded(exclude)

    def item(index: int, shard: Path) -> Item:
        part, statistics = folder / part_name(index), folder / part_name(index, "json")
        said = [reasons_digest(table, index) for table in (latest, duplicates) if table]
        make = partial(select, shard, index, latest, recipe, part, statistics, texts, duplicates)
        made_from = [version, as_json(recipe), digest_of(shard), excluded, *said]
        return Item([part, statistics], made_from, make)

    make_block(output, map(item, count(first), shards))
