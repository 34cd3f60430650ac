"""Parse a block of files of a source.

    .venv/bin/python scripts/parse.py --files pubmed26n0001.xml.gz pubmed26n0002.xml.gz \\
        --folder corpora/parsed/pubmed --output corpora/parsed/pubmed/BLOCK.json \\
        --recipe '{"source": "pubmed", "kind": "pubmed"}'

Inputs: files of one kind, under their original names: of PubMed's baseline or updatefiles; archives of
scripts/fetch_pmc.py; packages of PMC, each with its file list beside it; NOTEEVENTS.csv.gz of MIMIC-III; or
your own texts (`pubmill/corpus/own_texts.py` lists the keys of JSON lines, and how plain text is divided).
Outputs: FOLDER/SHARD.parquet of each file (see `pubmill/corpus/shards.py`), and the block's manifest.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from pubmill.corpus.parsing import filelist_of, parse_file
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.corpora import ParsingRecipe
from pubmill.recipes.programs import program
from pubmill.recipes.reading import as_json
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.result_paths import shard_name


def main(
    files: Annotated[list[Path], "the files of the block"],
    folder: Annotated[Path, "folder of the source's parsed shards"],
    output: Annotated[Path, "the block's manifest to write"],
    recipe: ParsingRecipe,
    version: Annotated[str, "version of parsing; shards of another one are parsed again"] = "",
) -> None:
    def items() -> Iterator[Item]:
        for raw in files:
            name, digest = shard_name(raw.name), digest_of(raw)
            own = replace(
                recipe, unreadable={key: ids for key, ids in recipe.unreadable.items() if key == name}
            )
            lists = [digest_of(filelist_of(raw))] if recipe.kind == "pmc-packages" else []
            shard = folder / f"{name}.parquet"
            made_from = [version, as_json(own), raw.name, digest, *lists]
            yield Item([shard], made_from, partial(parse_file, recipe, raw, digest, shard))

    make_block(output, items())


if __name__ == "__main__":
    run(limited(program(main)))
