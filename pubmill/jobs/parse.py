"""Parse a block of files of one kind, under their original names: of PubMed's baseline or updatefiles;
archives of the stage `fetch_pmc`; packages of PMC, each with its file list beside it; NOTEEVENTS.csv.gz of
MIMIC-III; or your own texts (pubmill.corpus.own_texts). Writes FOLDER/SHARD.parquet of each
(pubmill.corpus.shards)."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from pubmill.corpus.parsing import filelist_of, parse_file
from pubmill.hardware.process_limits import limited
from pubmill.recipes.corpora import ParsingRecipe
from pubmill.recipes.reading import as_json
from pubmill.storage.blocks import Item, digest_of, make_block
from pubmill.storage.result_paths import shard_name


@limited
def main(files: list[Path], folder: Path, output: Path, recipe: ParsingRecipe, version: str = "") -> None:
    def item(raw: Path) -> Item:
        name, digest = shard_name(raw.name), digest_of(raw)
        own = replace(recipe, unreadable={key: ids for key, ids in recipe.unreadable.items() if key == name})
        lists = [digest_of(filelist_of(raw))] if recipe.kind == "pmc-packages" else []
        shard = folder / f"{name}.parquet"
        made_from = [version, as_json(own), raw.name, digest, *lists]
        return Item([shard], made_from, partial(parse_file, recipe, raw, digest, shard))

    make_block(output, map(item, files))
