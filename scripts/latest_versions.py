"""Find the current version of each document over all parsed shards of a corpus.

    .venv/bin/python scripts/latest_versions.py --parsed corpora/parsed --output latest.parquet \\
        --recipe '{"sources": [{"name": "pubmed", "shards": ["pubmed26n0001"]}]}'

Input: parsed shards, source by source in the order of the recipe, which is the order of authority.
Output: one row for each citation: shard, position, and why it is not current (null if it is).
With --lock corpus.lock, the current documents are those of the lock; --report and --differences are then
written as well.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.locks import write_locked
from pubmill.errors import run
from pubmill.recipes.corpora import LatestRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description="Find the current version of each document.")
    parser.add_argument("--parsed", type=Path, required=True, help="folder with SOURCE/SHARD.parquet")
    parser.add_argument("--output", type=Path, required=True, help="latest.parquet to write")
    parser.add_argument(
        "--recipe", required=True, help='JSON: {"sources": [{"name": ..., "shards": [...]}, ...]}'
    )
    parser.add_argument("--lock", type=Path, help="corpus.lock of the corpus to rebuild")
    parser.add_argument("--report", type=Path, help="with --lock: lock.json to write")
    parser.add_argument("--differences", type=Path, help="with --lock: list of differing documents to write")
    arguments = parser.parse_args()
    recipe = recipes.read(LatestRecipe, arguments.recipe)
    shards = [
        (rank, arguments.parsed / source.name / f"{shard}.parquet")
        for rank, source in enumerate(recipe.sources)
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
