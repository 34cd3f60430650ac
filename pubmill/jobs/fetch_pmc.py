"""Fetch the articles of a block of shards of PMC's bucket, those of each shard into one archive,
SHARD.tar.gz, with SHARD.tar.gz.source.json (articles, those gone or without XML, time). Each article's JSON
and XML is checked by its md5. An interrupted job leaves its articles in SHARD.tar.gz.part, which the same
command resumes."""

from functools import partial
from pathlib import Path

from pubmill.corpus.pmc import fetch_shard, read_plan
from pubmill.storage.blocks import Item, make_block
from pubmill.storage.result_paths import RELATIVE


def main(
    plan: Path,
    shards: list[str],
    url: str,
    folder: Path,
    output: Path,
    mirror: str | None = None,
    version: str = "",
) -> None:
    def item(shard: str) -> Item:
        planned, archive = read_plan(plan, shard), folder / f"{shard}.tar.gz"
        fetch = partial(fetch_shard, archive, planned, shard, url, mirror)
        files = [archive, Path(RELATIVE.source_record(str(archive)))]
        return Item(files, [version, url, *map(tuple, planned)], fetch)

    make_block(output, map(item, shards))
