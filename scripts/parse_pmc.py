"""Parse one archive of PMC articles.

    .venv/bin/python scripts/parse_pmc.py --input ARCHIVE.tar.gz [--filelist FILE.csv] \\
        --output SHARD.parquet \\
        --recipe '{"source": "pmc", "parser": "pubmill", "leave_out": ["tables"]}'

Inputs: a package of PMC with its file list, or without --filelist, an archive of scripts/fetch_pmc.py.
Output: a parsed shard (see `pubmill/corpus/shards.py`); articles without XML have neither title nor text.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.articles import read_articles
from pubmill.corpus.packages import package_order, read_fetched, read_package
from pubmill.corpus.shards import write_shard
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.corpora import PmcParsingRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description="Parse one archive of PMC articles.")
    parser.add_argument("--input", type=Path, required=True, help="the archive (tar.gz)")
    parser.add_argument("--filelist", type=Path, help="the package's file list (csv)")
    parser.add_argument("--output", type=Path, required=True, help="the parsed shard (parquet) to write")
    parser.add_argument(
        "--recipe", required=True, help='JSON: {"source": ..., "parser": ..., "leave_out": []}'
    )
    arguments = parser.parse_args()
    recipe = recipes.read(PmcParsingRecipe, arguments.recipe)
    if arguments.filelist:
        articles = read_package(arguments.input, arguments.filelist)
        order = package_order(arguments.input)
    else:
        articles, order = read_fetched(arguments.input), 0
    left_out: Counter[str] = Counter()
    documents = read_articles(
        arguments.input, articles, recipe.parser, recipe.leave_out, left_out, recipe.unreadable
    )
    counts = write_shard(
        arguments.output, documents, source=recipe.source, file=arguments.input.name, order=order
    )
    print(f"{arguments.input.name}: {counts.citations} articles")
    print("left out:", ", ".join(f"{count} <{tag}>" for tag, count in sorted(left_out.items())) or "nothing")


if __name__ == "__main__":
    run(limited(main))
