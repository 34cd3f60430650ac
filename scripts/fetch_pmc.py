"""Fetch the articles of a block of shards of PMC's bucket, those of each shard into one archive.

    .venv/bin/python scripts/fetch_pmc.py --plan PLAN.parquet --shards PMC00123xxxx PMC00124xxxx --url URL \\
        --folder sources/pmc/SOURCE --output BLOCK.json [--mirror DIR]

Inputs: the plan (scripts/plan_pmc.py), and the articles' JSON and XML below URL, a few at a time, each
checked by its md5; with --mirror, below DIR/HOST/PATH.
Outputs: FOLDER/SHARD.tar.gz of each shard, SHARD.tar.gz.source.json (articles, those gone or without XML,
time), and the block's manifest. An interrupted job leaves its articles in SHARD.tar.gz.part, which the same
command resumes.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from pubmill.corpus.pmc import fetch_shard, read_plan
from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.storage.blocks import Item, make_block
from pubmill.storage.result_paths import BELOW


def main(
    plan: Annotated[Path, "the plan of the inventory (parquet)"],
    shards: Annotated[list[str], "for example PMC00123xxxx"],
    url: Annotated[str, "the bucket"],
    folder: Annotated[Path, "folder of the source's archives"],
    output: Annotated[Path, "the block's manifest to write"],
    mirror: Annotated[str | None, "folder that holds HOST/PATH, used instead of the network"] = None,
    version: Annotated[str, "version of fetching; shards of another one are fetched again"] = "",
) -> None:
    def items() -> Iterator[Item]:
        for shard in shards:
            planned, archive = read_plan(plan, shard), folder / f"{shard}.tar.gz"
            fetch = partial(fetch_shard, archive, planned, shard, url, mirror)
            files = [archive, Path(BELOW.source_record(str(archive)))]
            yield Item(files, [version, url, *map(tuple, planned)], fetch)

    make_block(output, items())


if __name__ == "__main__":
    run(program(main))
