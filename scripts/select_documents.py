"""Select the documents of a corpus from a block of parsed shards.

    .venv/bin/python scripts/select_documents.py --shards pubmed26n0001.parquet pubmed26n0002.parquet \\
        --first 0 --latest latest.parquet --folder corpora/CORPUS --output BLOCK.json \\
        --recipe '{"min_words": 128}'

Inputs: parsed shards, of which the first has the number FIRST in the corpus and in `latest.parquet`; the
excluded texts and the list of duplicates, if the corpus has any.
Outputs: of each shard the documents, FOLDER/part-NNNN.parquet (id, version, date, title, text, words, bytes),
and statistics of what was rejected and why, FOLDER/part-NNNN.json; and the block's manifest.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.part_tables import rows_digest
from pubmill.corpus.statistics import select
from pubmill.errors import run
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.recipes.programs import program
from pubmill.recipes.reading import as_json
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.result_paths import part_name


def main(
    shards: Annotated[list[Path], "the parsed shards of the block"],
    first: Annotated[int, "the number of the first"],
    latest: Annotated[Path, "latest.parquet of the corpus"],
    folder: Annotated[Path, "folder of the corpus"],
    output: Annotated[Path, "the block's manifest to write"],
    recipe: SelectionRecipe,
    exclude: Annotated[Path | None, "index of texts that the corpus must not contain"] = None,
    duplicates: Annotated[Path | None, "duplicates.parquet of the corpus"] = None,
    version: Annotated[str, "version of the selection; parts of another one are selected again"] = "",
) -> None:
    texts = EvaluationTexts(exclude) if exclude else None
    excluded = digest_of(exclude) if exclude else ""

    def items() -> Iterator[Item]:
        for index, shard in enumerate(shards, first):
            part, statistics = folder / part_name(index), folder / part_name(index, "json")
            said = [rows_digest(table, index) for table in (latest, duplicates) if table]
            make = partial(select, shard, index, latest, recipe, part, statistics, texts, duplicates)
            yield Item(
                [part, statistics], [version, as_json(recipe), digest_of(shard), excluded, *said], make
            )

    make_block(output, items())


if __name__ == "__main__":
    run(program(main))
