"""Find which version of each document is in force, over all parsed shards of a corpus.

    python scripts/latest_versions.py --shards a.parquet b.parquet --output latest.parquet \\
        --recipe '{"sources": [{"name": "pubmed", "shards": 1}, {"name": "notes", "shards": 1}]}'

Input: parsed shards, source by source in the order of the recipe, which is the order of authority.
Output: one row for each citation: shard, position, reason it is not in force (null if it is).
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.versions import write_latest
from pubmill.errors import PubmillError, run


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source and how many of the shards are its own."""

    name: str
    shards: int


@dataclass(frozen=True, kw_only=True)
class LatestRecipe:
    """The sources in the order of authority."""

    sources: tuple[dict[str, object], ...]


def main() -> None:
    parser = argparse.ArgumentParser(description="Find the citations in force.", fromfile_prefix_chars="@")
    parser.add_argument(
        "--shards", type=Path, nargs="+", required=True, help="parsed shards, by source; or @FILE, one a line"
    )
    parser.add_argument("--output", type=Path, required=True, help="latest.parquet to write")
    parser.add_argument(
        "--recipe", required=True, help='JSON: {"sources": [{"name": ..., "shards": N}, ...]}'
    )
    arguments = parser.parse_args()
    recipe = recipes.read(LatestRecipe, arguments.recipe)
    sources = [recipes.build(Source, source, "--recipe.sources") for source in recipe.sources]
    ranks = [rank for rank, source in enumerate(sources) for _ in range(source.shards)]
    if len(ranks) != len(arguments.shards):
        raise PubmillError(f"the recipe has {len(ranks)} shards, --shards names {len(arguments.shards)}")
    write_latest(arguments.output, arguments.shards, ranks)


if __name__ == "__main__":
    run(main)
