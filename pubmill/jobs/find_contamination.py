"""Find texts of datasets in a block of parts of a corpus: of each part FOLDER/part-NNNN.json, the ids of
documents and of the texts that they contain, no text."""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from pubmill.corpus.contamination import EvaluationTexts, find_in_part
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.parquet import access_of_parts
from pubmill.storage.privacy import keep_private


def main(parts: list[Path], index: Path, folder: Path, output: Path, version: str = "") -> None:
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
