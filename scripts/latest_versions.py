"""Find which version of each document is in force, over all parsed shards of a corpus.

    .venv/bin/python scripts/latest_versions.py --parsed corpora/parsed --output latest.parquet \\
        --recipe '{"sources": [{"name": "pubmed", "shards": ["pubmed26n0001"]}]}'

Input: parsed shards, source by source in the order of the recipe, which is the order of authority.
Output: one row for each citation: shard, position, reason it is not in force (null if it is).
With --lock corpus.lock, and --report and --differences to write, in force is what the lock has.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.locks import write_locked
from pubmill.errors import run


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source and the names of its shards, in the order of loading."""

    name: str
    shards: list[str]


@dataclass(frozen=True, kw_only=True)
class LatestRecipe:
    """The sources in the order of authority."""

    sources: list[dict[str, object]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Find the citations in force.")
    parser.add_argument("--parsed", type=Path, required=True, help="folder holding SOURCE/SHARD.parquet")
    parser.add_argument("--output", type=Path, required=True, help="latest.parquet to write")
    parser.add_argument(
        "--recipe", required=True, help='JSON: {"sources": [{"name": ..., "shards": [...]}, ...]}'
    )
    parser.add_argument("--lock", type=Path, help="corpus.lock of the corpus that is built again")
    parser.add_argument("--report", type=Path, help="with --lock: lock.json to write")
    parser.add_argument("--differences", type=Path, help="with --lock: the documents that differ, to write")
    arguments = parser.parse_args()
    recipe = recipes.read(LatestRecipe, arguments.recipe)
    sources = [recipes.build(Source, source, "--recipe.sources") for source in recipe.sources]
    shards = [
        (rank, arguments.parsed / source.name / f"{shard}.parquet")
        for rank, source in enumerate(sources)
        for shard in source.shards
    ]
    paths, ranks = [shard for _, shard in shards], [rank for rank, _ in shards]
    if not arguments.lock:
        write_latest(arguments.output, paths, ranks)
        return
    if not (arguments.report and arguments.differences):
        parser.error("--lock needs --report and --differences")
    write_locked(arguments.output, paths, ranks, arguments.lock, arguments.report, arguments.differences)


if __name__ == "__main__":
    run(main)
