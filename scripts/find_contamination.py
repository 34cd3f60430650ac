"""Find texts of datasets in a block of parts of a corpus.

    .venv/bin/python scripts/find_contamination.py --parts part-0000.parquet part-0001.parquet \\
        --index contamination.parquet --folder corpora/CORPUS/contamination --output BLOCK.json

Inputs: parts of a corpus, and the index of the texts.
Outputs: of each part FOLDER/part-NNNN.json: the ids of documents and of the texts that they contain, no text;
and the block's manifest.
"""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Annotated

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.contamination_report import find_in_part
from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.parquet import access_of_parts
from pubmill.storage.privacy import keep_private


def main(
    parts: Annotated[list[Path], "parts of the corpus"],
    index: Annotated[Path, "the index of the texts"],
    folder: Annotated[Path, "folder of the matches"],
    output: Annotated[Path, "the block's manifest to write"],
    version: Annotated[str, "version of the search; parts are searched again by another one"] = "",
) -> None:
    keep_private([], access_of_parts([index]))
    texts = cache(lambda: EvaluationTexts(index))  # loaded for the first part that is searched
    searched = digest_of(index)

    def search(part: Path, found: Path) -> None:
        find_in_part(part, texts(), found)

    def items() -> Iterator[Item]:
        for part in parts:
            found = folder / f"{part.stem}.json"
            yield Item([found], [version, searched, digest_of(part)], partial(search, part, found))

    make_block(output, items())


if __name__ == "__main__":
    run(program(main))
