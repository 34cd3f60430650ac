"""Word counts of all parts of a corpus put together, with memory that does not grow with the corpus."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pubmill.errors import PubmillError
from pubmill.recipes import Splitting
from pubmill.storage.database import database
from pubmill.storage.files import temporary_name
from pubmill.storage.parquet import all_verified, verified
from pubmill.vocabs.word_counts import METADATA, Counted

# what the sums need beyond this spills to a folder beside the vocabulary
MEMORY = "4GB"


@dataclass(frozen=True)
class MergedCounts:
    """The words of a corpus that a vocabulary is learnt from.

    `minimum` is the smallest number of occurrences of a word that was kept: 1, or what is needed for no more
    words than were asked for. `pruned_words` and `pruned_occurrences` tell what was left out for it.
    """

    counted: Counted
    minimum: int = 1
    pruned_words: int = 0
    pruned_occurrences: int = 0

    def figures(self) -> dict[str, Any]:
        """What a diagnosis says of them."""
        return {
            "documents": self.counted.documents,
            "words": self.counted.running,
            "minimum_count": self.minimum,
            "pruned_words": self.pruned_words,
            "pruned_occurrences": self.pruned_occurrences,
        }


def merge_counts(parts: Sequence[Path], splitting: Splitting, most_words: int, spill: Path) -> MergedCounts:
    """Sum the counts of all parts; keep the `most_words` most frequent words, fewer where others are as rare.

    `spill` is a folder beside which DuckDB puts what memory doesn't hold. Raises `PubmillError` where the
    corpus has no words at all, or more that are equally frequent than are kept.
    """
    told = [_told(part, splitting) for part in parts]
    fault = f"{parts[0].parent}: the word counts can't be merged"
    with database(temporary_name(spill), MEMORY, fault) as connection:
        merged = _merge(connection, all_verified(parts), most_words)
    words, minimum, pruned_words, pruned_occurrences = merged
    documents, running = (sum(int(part[name]) for part in told) for name in ("documents", "running"))
    if pruned_words and not words:
        raise PubmillError(
            f"most_words is {most_words}, but the corpus's most frequent words are more than that and "
            f"all of them equally frequent; raise it"
        )
    if not words:
        raise PubmillError(
            f"the corpus's {documents} documents hold no words to learn a vocabulary from; look at stats.json"
        )
    return MergedCounts(Counted(words, documents, running), minimum, pruned_words, pruned_occurrences)


def _merge(
    connection: duckdb.DuckDBPyConnection, files: list[str], most_words: int
) -> tuple[dict[str, int], int, int, int]:
    connection.execute(
        'CREATE TABLE words AS SELECT word, sum("count")::BIGINT AS n '
        "FROM read_parquet($files) GROUP BY word",
        {"files": files},
    )
    kinds = connection.execute("SELECT n, count(*) FROM words GROUP BY n ORDER BY n DESC").fetchall()
    minimum, kept, pruned_words, pruned_occurrences = 1, 0, 0, 0
    for count, words in kinds:
        kept += words
        if kept > most_words:
            minimum = max(minimum, count + 1)
            pruned_words += words
            pruned_occurrences += count * words
    found = connection.execute(
        "SELECT word, n FROM words WHERE n >= $minimum ORDER BY word", {"minimum": minimum}
    )
    result: dict[str, int] = {}
    while rows := found.fetchmany(100_000):
        result.update(rows)
    return result, minimum, pruned_words, pruned_occurrences


def _told(part: Path, splitting: Splitting) -> dict[str, Any]:
    """What a part's counts say of themselves."""
    try:
        metadata = pq.read_schema(verified(part)).metadata or {}
        told: dict[str, Any] = json.loads(metadata[METADATA])
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise PubmillError(f"{part}: no readable word counts ({error}); remove it and run again") from None
    if told.get("splitting") != splitting:
        raise PubmillError(
            f"{part}: words of {told.get('splitting')} where {splitting} is needed; count again"
        )
    return told
