"""Find the current version of each document over all parsed shards of a corpus.

    .venv/bin/python scripts/latest_versions.py --parsed corpora/parsed --output latest.parquet \\
        --recipe '{"sources": [{"name": "pubmed", "shards": ["pubmed26n0001"]}]}'

Input: parsed shards, source by source in the order of the recipe, which is the order of authority.
Output: one row for each citation: shard, position, and why it is not current (null if it is).
With --lock corpus.lock, the current documents are those of the lock; --report and --differences are then
written as well.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.locks import write_locked
from pubmill.errors import PubmillError, run
from pubmill.recipes.corpora import LatestRecipe
from pubmill.recipes.programs import program


def main(
    parsed: Annotated[Path, "folder with SOURCE/SHARD.parquet"],
    output: Annotated[Path, "latest.parquet to write"],
    recipe: LatestRecipe,
    lock: Annotated[Path | None, "corpus.lock of the corpus to rebuild"] = None,
    report: Annotated[Path | None, "with --lock: lock.json to write"] = None,
    differences: Annotated[Path | None, "with --lock: list of differing documents to write"] = None,
) -> None:
    paths = [parsed / one.name / f"{shard}.parquet" for one in recipe.sources for shard in one.shards]
    ranks = [rank for rank, one in enumerate(recipe.sources) for _ in one.shards]
    if not lock:
        write_latest(output, paths, ranks)
    elif report and differences:
        write_locked(output, paths, ranks, lock, report, differences)
    else:
        raise PubmillError("--lock needs --report and --differences")


if __name__ == "__main__":
    run(program(main))
