"""Fetch the articles of one shard of PMC's bucket into one archive.

    .venv/bin/python scripts/fetch_pmc.py --plan PLAN.parquet --shard PMC00123xxxx --url URL \\
        --output SHARD.tar.gz
                                [--mirror DIR]

Inputs: the plan (scripts/plan_pmc.py), and the articles' JSON and XML below URL, a few at a time, each
checked by its md5; with --mirror, below DIR/HOST/PATH.
Outputs: SHARD.tar.gz, and SHARD.tar.gz.source.json (articles, those gone or without XML, time). An
interrupted job leaves its articles in SHARD.tar.gz.part, which the same command resumes.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.pmc import fetch_shard
from pubmill.errors import run
from pubmill.recipes.programs import program


def main(
    plan: Annotated[Path, "the plan of the inventory (parquet)"],
    shard: Annotated[str, "for example PMC00123xxxx"],
    url: Annotated[str, "the bucket"],
    output: Annotated[Path, "the archive (tar.gz) to write"],
    mirror: Annotated[str | None, "folder that holds HOST/PATH, used instead of the network"] = None,
) -> None:
    record = fetch_shard(output, plan, shard, url, mirror)
    print(
        f"{shard}: {record['articles']} articles, {len(record['without_xml'])} of them without XML, "
        f"{len(record['gone'])} gone"
    )


if __name__ == "__main__":
    run(program(main))
