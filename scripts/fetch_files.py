"""Download a block of files of a source; complete, checked and recorded.

    .venv/bin/python scripts/fetch_files.py --recipe '{"urls": ["URL", ...], "md5_beside": true}' \\
        --sources results/full/sources --output BLOCK.json [--mirror DIR]

Inputs: the files at the URLs; with --mirror, DIR/HOST/PATH instead of the network.
Outputs: SOURCES/HOST/PATH of each, with its record HOST/PATH.source.json (as scripts/download.py), and the
block's manifest. An interrupted download leaves PATH.part, which the same command resumes.
"""

from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pubmill.errors import run
from pubmill.recipes.corpora import FetchRecipe
from pubmill.recipes.programs import program
from pubmill.storage.blocks import Item, make_block
from pubmill.storage.result_paths import BELOW
from pubmill.storage.sources import download


def main(
    recipe: FetchRecipe,
    sources: Annotated[Path, "the folder of source files"],
    output: Annotated[Path, "the block's manifest to write"],
    mirror: Annotated[str | None, "folder that holds HOST/PATH, used instead of the network"] = None,
    version: Annotated[str, "version of fetching; files of another one are fetched again"] = "",
) -> None:
    items = []
    for url in recipe.urls:
        file = sources / urlsplit(url).netloc / urlsplit(url).path.lstrip("/")
        fetch = partial(download, url, file, mirror, md5_beside=recipe.md5_beside)
        items.append(
            Item([file, Path(BELOW.source_record(str(file)))], [version, url, recipe.md5_beside], fetch)
        )
    make_block(output, items)


if __name__ == "__main__":
    run(program(main))
