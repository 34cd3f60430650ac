"""Find texts of datasets in a block of parts of a corpus: of each part FOLDER/part-NNNN.json, the ids of
documents and of the texts that they contain, no text."""

from functools import cache
from pathlib import Path

from pubmill.corpus.contamination import EvaluationTexts, find_in_part
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.parquet import access_of_parts
from pubmill.storage.privacy import keep_private


def main(parts: list[Path], index: Path, folder: Path, output: Path, version: str = "") -> None:
    keep_private([], access_of_parts([index]))
    texts = cache(lambda: EvaluationTexts(index))  # loaded for the first part that is searched
    searched = digest_of(index)

    def item(part: Path) -> Item:
        found = folder / f"{part.stem}.json"
        return Item([found], [version, searched, digest_of(part)], lambda: find_in_part(part, texts(), found))

    make_block(output, map(item, parts))
