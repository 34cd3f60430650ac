"""Make the fingerprints with which copies among the documents of a corpus are found, for a block of shards.

    .venv/bin/python scripts/fingerprint.py --shards pubmed26n0001.parquet pubmed26n0002.parquet --first 0 \\
        --latest latest.parquet --folder corpora/CORPUS/fingerprints --output BLOCK.json \\
        --recipe '{"selection": {"min_words": 128}, "similar": true}'

Inputs: parsed shards, of which the first has the number FIRST in the corpus and in `latest.parquet`; the
excluded texts, if any.
Outputs: FOLDER/part-NNNN.parquet of each shard (id, position, digest, and MinHashes of each document that is
neither excluded nor filtered out), and the block's manifest.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.fingerprints import write_fingerprints
from pubmill.corpus.part_tables import rows_digest
from pubmill.errors import run
from pubmill.recipes.corpora import FingerprintRecipe
from pubmill.recipes.programs import program
from pubmill.recipes.reading import as_json
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.result_paths import part_name


def main(
    shards: Annotated[list[Path], "the parsed shards of the block"],
    first: Annotated[int, "the number of the first"],
    latest: Annotated[Path, "latest.parquet of the corpus"],
    folder: Annotated[Path, "folder of the corpus's fingerprints"],
    output: Annotated[Path, "the block's manifest to write"],
    recipe: FingerprintRecipe,
    exclude: Annotated[Path | None, "index of texts that the corpus must not contain"] = None,
    version: Annotated[list[str] | None, "of selection and of fingerprints; others are made again"] = None,
) -> None:
    texts = EvaluationTexts(exclude) if exclude else None
    excluded = digest_of(exclude) if exclude else ""

    def items() -> Iterator[Item]:
        for index, shard in enumerate(shards, first):
            prints = folder / part_name(index)
            make = partial(
                write_fingerprints, shard, index, latest, recipe.selection, texts, prints, recipe.similar
            )
            said = [digest_of(shard), rows_digest(latest, index), excluded]
            yield Item([prints], [version, as_json(recipe), *said], make)

    make_block(output, items())


if __name__ == "__main__":
    run(program(main))
