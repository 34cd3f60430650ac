"""Parse one archive of PMC articles.

    .venv/bin/python scripts/parse_pmc.py --input ARCHIVE.tar.gz [--filelist FILE.csv] \\
        --output SHARD.parquet \\
        --recipe '{"source": "pmc", "parser": "pubmill", "leave_out": ["tables"]}'

Inputs: a package of PMC with its file list, or without --filelist, an archive of scripts/fetch_pmc.py.
Output: a parsed shard (see `pubmill/corpus/shards.py`); articles without XML have neither title nor text.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated

from pubmill.corpus.articles import read_articles
from pubmill.corpus.packages import package_order, read_fetched, read_package
from pubmill.corpus.shards import write_shard
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.corpora import PmcParsingRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import sha256


def main(
    input_: Annotated[Path, "the archive (tar.gz)"],
    output: Annotated[Path, "the parsed shard (parquet) to write"],
    recipe: PmcParsingRecipe,
    filelist: Annotated[Path | None, "the package's file list (csv)"] = None,
) -> None:
    if filelist:
        articles = read_package(input_, filelist)
        order = package_order(input_)
    else:
        articles, order = read_fetched(input_), 0
    left_out: Counter[str] = Counter()
    typed: Counter[str] = Counter()
    documents = read_articles(
        input_, articles, recipe.parser, recipe.leave_out, left_out, recipe.unreadable, typed
    )
    counts = write_shard(
        output, documents, source=recipe.source, file=input_.name, order=order, digest=sha256(input_)
    )
    print(f"{input_.name}: {counts.citations} articles")
    for what, found in (("left out", left_out), ("abstracts kept in spite of their type", typed)):
        listed = ", ".join(f"{count} <{tag}>" for tag, count in sorted(found.items()))
        print(f"{what}: {listed or 'nothing'}")


if __name__ == "__main__":
    run(limited(program(main)))
