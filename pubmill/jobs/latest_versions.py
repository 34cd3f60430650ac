"""Find the current version of each document over all parsed shards of a corpus: one row for each citation,
with shard, position, and why it is not current (null if it is). With `lock`, the current documents are those
of the lock; `report` and `differences` are then written as well."""

from pathlib import Path

from pubmill.corpus.document_versions import write_latest, write_locked
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import LatestRecipe


def main(
    parsed: Path,
    output: Path,
    recipe: LatestRecipe,
    lock: Path | None = None,
    report: Path | None = None,
    differences: Path | None = None,
) -> None:
    paths = [parsed / one.name / f"{shard}.parquet" for one in recipe.sources for shard in one.shards]
    ranks = [rank for rank, one in enumerate(recipe.sources) for _ in one.shards]
    if not lock:
        write_latest(output, paths, ranks)
    elif report and differences:
        write_locked(output, paths, ranks, lock, report, differences)
    else:
        raise PubmillError("--lock needs --report and --differences")
