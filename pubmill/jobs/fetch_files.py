"""Download a block of files of a source; complete, checked and recorded as by the stage `download`:
SOURCES/HOST/PATH of each."""

from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from pubmill.recipes.corpora import FetchRecipe
from pubmill.storage.blocks import Item, make_block
from pubmill.storage.result_paths import RELATIVE
from pubmill.storage.sources import download


def main(
    recipe: FetchRecipe, sources: Path, output: Path, mirror: str | None = None, version: str = ""
) -> None:
    def item(url: str) -> Item:
        file = sources / urlsplit(url).netloc / urlsplit(url).path.lstrip("/")
        fetch = partial(download, url, file, mirror, md5_beside=recipe.md5_beside)
        files = [file, Path(RELATIVE.source_record(str(file)))]
        return Item(files, [version, url, recipe.md5_beside], fetch)

    make_block(output, map(item, recipe.urls))
