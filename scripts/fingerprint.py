"""Make the fingerprints with which copies among the documents of a corpus are found.

    .venv/bin/python scripts/fingerprint.py --shard 26n0001.parquet --index 0 \\
        --latest latest/part-0000.parquet \\
        --output fingerprints/part-0000.parquet --recipe '{"selection": {"min_words": 128}, "similar": true}'

Inputs: a parsed shard, its number, and its rows of `latest.parquet`; the excluded texts, if any.
Output: id, position, digest, and MinHashes of each document that is neither excluded nor filtered out.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.fingerprints import write_fingerprints
from pubmill.errors import run
from pubmill.recipes.corpora import FingerprintRecipe
from pubmill.recipes.programs import program


def main(
    shard: Annotated[Path, "the parsed shard"],
    index: Annotated[int, "the part's number"],
    latest: Annotated[Path, "latest/part-NNNN.parquet of the corpus"],
    output: Annotated[Path, "the fingerprints (parquet) to write"],
    recipe: FingerprintRecipe,
    exclude: Annotated[Path | None, "index of texts that the corpus must not contain"] = None,
) -> None:
    count = write_fingerprints(
        shard, index, latest, recipe.selection,
        EvaluationTexts(exclude) if exclude else None, output, recipe.similar,
    )  # fmt: skip
    print(f"{shard.name}: {count} documents")


if __name__ == "__main__":
    run(program(main))
