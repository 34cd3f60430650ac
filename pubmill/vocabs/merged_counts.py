"""Sums of the word counts of all parts of a corpus, in memory that does not grow with the corpus."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pubmill.errors import PubmillError
from pubmill.recipes import Splitting
from pubmill.storage.database import database
from pubmill.storage.files import temporary_name
from pubmill.storage.parquet import all_verified, verified
from pubmill.vocabs.word_counts import METADATA, Counted

# beyond this, the sums spill to a folder beside the vocabulary
MEMORY = "4GB"


@dataclass(frozen=True)
class MergedCounts:
    """The words of a corpus from which a vocabulary is learnt.

    `minimum` is the smallest number of occurrences of a kept word: 1, or as many as needed to keep no more
    words than requested. `pruned_words` and `pruned_occurrences` count the words that this leaves out.
    """

    counted: Counted
    minimum: int = 1
    pruned_words: int = 0
    pruned_occurrences: int = 0

    def figures(self) -> dict[str, int]:
        """Return the figures of the counts for a diagnosis."""
        return {
            "documents": self.counted.documents,
            "words": self.counted.running,
            "minimum_count": self.minimum,
            "pruned_words": self.pruned_words,
            "pruned_occurrences": self.pruned_occurrences,
        }


def merge_counts(parts: Sequence[Path], splitting: Splitting, most_words: int, spill: Path) -> MergedCounts:
    """Sum the counts of all parts; keep at most `most_words` words, the most frequent ones.

    Equally frequent words are kept or left out together. DuckDB spills to a folder beside `spill`. Raises
    `PubmillError` if the corpus has no words, or if more than `most_words` words are the most frequent.
    """
    metadata = [_part_metadata(part, splitting) for part in parts]
    fault = f"{parts[0].parent}: the word counts can't be merged"
    with database(temporary_name(spill), MEMORY, fault) as connection:
        merged = _merge_parts(connection, all_verified(parts), most_words)
    words, minimum, pruned_words, pruned_occurrences = merged
    documents, running = (sum(int(part[name]) for part in metadata) for name in ("documents", "running"))
    if pruned_words and not words:
        raise PubmillError(
            f"most_words is {most_words}, but more words than that share the highest frequency in the "
            f"corpus, so none can be kept; raise it"
        )
    if not words:
        raise PubmillError(
            f"the corpus's {documents} documents hold no words to learn a vocabulary from; look at stats.json"
        )
    return MergedCounts(Counted(words, documents, running), minimum, pruned_words, pruned_occurrences)


def _merge_parts(
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
    cursor = connection.execute(
        "SELECT word, n FROM words WHERE n >= $minimum ORDER BY word", {"minimum": minimum}
    )
    result: dict[str, int] = {}
    while rows := cursor.fetchmany(100_000):
        result.update(rows)
    return result, minimum, pruned_words, pruned_occurrences


def _part_metadata(part: Path, splitting: Splitting) -> dict[str, str | int]:
    """Return the metadata of a part's counts."""
    try:
        schema = pq.read_schema(verified(part)).metadata or {}
        metadata: dict[str, str | int] = json.loads(schema[METADATA])
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise PubmillError(f"{part}: no readable word counts ({error}); remove it and run again") from None
    if metadata.get("splitting") != splitting:
        raise PubmillError(
            f"{part}: words split by {metadata.get('splitting')}, expected {splitting}; count again"
        )
    return metadata
