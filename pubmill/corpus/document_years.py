"""Years of publication of datasets' documents, from the sources of a corpus."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from pubmill.errors import PubmillError
from pubmill.recipes.corpora import DocumentsRecipe
from pubmill.storage.files import read_jsonl_gz
from pubmill.storage.parquet import open_parquet


def documents_in(files: Iterable[Path]) -> set[str]:
    """Return the documents that the rows of files of examples, or of their identifiers, name."""
    return {str(row["document"]) for file in files for row in read_jsonl_gz(file) if row.get("document")}


def shards_of_sources(recipe: DocumentsRecipe, parsed: Path) -> list[list[Path]]:
    """Return the parsed shards of each source, in the order of authority; `parsed`: their folder."""
    return [
        [parsed / source.name / f"{shard}.parquet" for shard in source.shards] for source in recipe.sources
    ]


def wanted_rows(shard: Path, column: str, wanted: pa.Array, columns: Sequence[str]) -> pa.Table:
    """Return these columns of the rows of a parsed shard whose `column` has a wanted value."""
    try:
        with open_parquet(shard) as file:
            table = file.read(list(columns))
    except (pa.ArrowException, OSError, KeyError) as error:
        raise PubmillError(f"{shard}: no parsed shard: {error}") from None
    return table.filter(pc.is_in(table[column], value_set=wanted))


def years_of(sources: Sequence[Sequence[Path]], pmids: Iterable[str]) -> dict[str, int]:
    """Return the years of the documents with these PMIDs; those without a year are left out.

    `sources`: the parsed shards of each source, in the order of authority; within a source, a later shard
    replaces what an earlier one says of a document.
    """
    wanted = pa.array(sorted(set(pmids)), pa.string())
    years: dict[str, int] = {}
    for shards in reversed(sources):
        for shard in shards:
            years |= _years_in(shard, wanted)
    return dict(sorted(years.items()))


def _years_in(shard: Path, wanted: pa.Array) -> Mapping[str, int]:
    """Return the years of documents in a shard."""
    rows = wanted_rows(shard, "pmid", wanted, ["pmid", "published"])
    pairs = zip(rows["pmid"].to_pylist(), rows["published"].to_pylist(), strict=True)
    return {pmid: int(year) for pmid, year in pairs if year}
