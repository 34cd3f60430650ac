"""Word counts of the parts of a corpus, and their sums, from which every vocabulary is learnt.

The definition of a word depends on the kind of vocabulary (`SPLITTINGS`). A part's text is first split at its
spaces and equal chunks are counted (DuckDB, one thread), then each distinct chunk is split into words: the
text is read once and most of it never becomes a Python object. No memory grows with the corpus.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel

from pubmill.errors import PubmillError
from pubmill.examples.vocab_tokenizers import ASCII_WORD
from pubmill.recipes import Splitting
from pubmill.storage.database import database
from pubmill.storage.files import temporary_name, writing
from pubmill.storage.parquet import all_verified, parquet_writer, verified
from pubmill.storage.privacy import label_of_process

Split = Callable[[str], list[str]]

MEMORY, SUMS_MEMORY = "2GB", "4GB"
"""Beyond this, the counts of a part and the sums of all spill to a folder beside the output."""
METADATA = b"pubmill"

_ASCII_BYTE_LEVEL = re.compile("'(?:[stmd]|re|ve|ll)| ?[A-Za-z]+| ?[0-9]+| ?[^ A-Za-z0-9]+| ")

_SUMS = 'CREATE TABLE words AS SELECT word, sum("count")::BIGINT AS n FROM read_parquet($files) GROUP BY word'
_PART = "read_parquet(getvariable('part'))"
_COARSE = f"""
WITH chunks AS (SELECT unnest(string_split(replace(text, chr(10), ' '), ' ')) AS chunk FROM {_PART})
SELECT chunk, count(*) FROM chunks GROUP BY chunk
"""
# GPT-2's words contain the space before them. A line with other white space than single spaces between words
# is one chunk, because a run of white space is split differently from its single characters.
_WHITE = r"^ |  | $|[\t-\r\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
_LINES = f"""
WITH lines AS (SELECT unnest(string_split(text, chr(10))) AS line FROM {_PART}),
judged AS (SELECT line, regexp_matches(line, '{_WHITE}') AS odd FROM lines),
words AS (SELECT string_split(line, ' ') AS word FROM judged WHERE NOT odd),
rest AS (SELECT unnest(word[2:]) AS chunk FROM words)
SELECT word[1], count(*) FROM words GROUP BY word[1]
UNION ALL SELECT ' ' || chunk, count(*) FROM rest GROUP BY chunk
UNION ALL SELECT line, count(*) FROM judged WHERE odd GROUP BY line
"""


@dataclass(frozen=True)
class Counted:
    """The words of some documents and their counts; `running`: number of words separated by white space."""

    words: Mapping[str, int]
    documents: int
    running: int


def _bert_splitter(lowercase: bool) -> Split:
    """Return a splitter into BERT's words; lower-casing also removes accents, as in BERT."""
    normalizer, splitter = BertNormalizer(lowercase=lowercase), BertPreTokenizer()

    def split(chunk: str) -> list[str]:
        if chunk.isascii() and chunk.isprintable():
            plain = chunk.lower() if lowercase else chunk
            return [plain] if plain.isalnum() else ASCII_WORD.findall(plain)
        return [word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(chunk))]

    return split


def _byte_level_splitter() -> Split:
    """Return a splitter into GPT-2's words, with each byte written as one character (a space as Ġ)."""
    splitter = ByteLevel(add_prefix_space=False, use_regex=True)

    def split(chunk: str) -> list[str]:
        if chunk.isascii() and chunk.isprintable() and " " not in chunk[1:]:
            return [word.replace(" ", "Ġ") for word in _ASCII_BYTE_LEVEL.findall(chunk)]
        return [word for word, _ in splitter.pre_tokenize_str(chunk)]

    return split


SPLITTINGS: dict[str, tuple[str, Callable[[], Split]]] = {
    "bert-uncased": (_COARSE, lambda: _bert_splitter(lowercase=True)),
    "bert-cased": (_COARSE, lambda: _bert_splitter(lowercase=False)),
    "byte-level": (_LINES, _byte_level_splitter),
    "white-space": (_COARSE, lambda: str.split),
}
"""Splitting -> the query that cuts a text into chunks, and the function that makes the chunk splitter."""


def count_part(part: Path, splitting: Splitting, spill: Path) -> Counted:
    """Count the words of a corpus part; DuckDB spills to the folder `spill`."""
    if not part.is_file():
        raise PubmillError(f"{part} does not exist; select the corpus's documents first")
    query, make_split = SPLITTINGS[splitting]
    split, words, running = make_split(), dict[str, int](), 0
    known = words.get  # twice as fast as a Counter, which calls Python code for each new word
    with database(spill, MEMORY, f"{part}: no readable corpus part with a column text") as connection:
        connection.execute("SET VARIABLE part = $part", {"part": str(verified(part))})
        connection.execute("SET threads = 1")
        documents = connection.execute(f"SELECT count(*) FROM {_PART}").fetchone()
        cursor = connection.execute(query)
        while chunks := cursor.fetchmany(100_000):
            for chunk, count in chunks:
                running += count * (1 if chunk.isalnum() else len(chunk.split()))
                for word in split(chunk):
                    words[word] = known(word, 0) + count
    return Counted(words, documents[0] if documents else 0, running)


def write_counts(part: Path, splitting: Splitting, output: Path) -> Counted:
    """Count a corpus part and write its words (word, count), sorted by code points, as Parquet."""
    spill = temporary_name(output.with_suffix(".spill"))
    counted = count_part(part, splitting, spill)
    words = sorted(counted.words)
    columns = {
        "word": pa.array(words, pa.string()),
        "count": pa.array(map(counted.words.__getitem__, words), pa.int64()),
    }
    metadata = {"splitting": splitting, "documents": counted.documents, "running": counted.running}
    table = pa.table(columns).replace_schema_metadata({METADATA: json.dumps(metadata)} | label_of_process())
    with writing(output) as temporary, parquet_writer(temporary, table.schema) as writer:
        writer.write_table(table)
    return counted


def merge_counts(
    parts: Sequence[Path], splitting: Splitting, most_words: int, spill: Path
) -> tuple[dict[str, int], dict[str, int]]:
    """Sum the counts of all parts; keep at most `most_words` words, the most frequent ones, and return them
    with the figures of the counts for a diagnosis.

    Equally frequent words are kept or left out together: words with at least `minimum_count` occurrences are
    kept; `pruned_words` and `pruned_occurrences` count the others.
    DuckDB spills to a folder beside `spill`. Raises `PubmillError` if the corpus has no words, or if more
    than `most_words` words are the most frequent.
    """
    metadata = [_part_metadata(part, splitting) for part in parts]
    documents, running = (sum(int(part[name]) for part in metadata) for name in ("documents", "running"))
    fault = f"{parts[0].parent}: the word counts can't be merged"
    with database(temporary_name(spill), SUMS_MEMORY, fault) as connection:
        connection.execute(_SUMS, {"files": all_verified(parts)})
        kinds = connection.execute("SELECT n, count(*) FROM words GROUP BY n ORDER BY n DESC").fetchall()
        totals = accumulate(number for _, number in kinds)
        pruned = [kind for kind, total in zip(kinds, totals, strict=True) if total > most_words]
        minimum = pruned[0][0] + 1 if pruned else 1
        cursor = connection.execute("SELECT word, n FROM words WHERE n >= ? ORDER BY word", [minimum])
        words: dict[str, int] = {}
        while rows := cursor.fetchmany(100_000):
            words.update(rows)
    if pruned and not words:
        raise PubmillError(
            f"most_words is {most_words}, but more words than that share the highest frequency in the "
            f"corpus, so none can be kept; raise it"
        )
    if not words:
        raise PubmillError(
            f"the corpus's {documents} documents hold no words to learn a vocabulary from; look at stats.json"
        )
    return words, {
        "documents": documents,
        "words": running,
        "minimum_count": minimum,
        "pruned_words": sum(number for _, number in pruned),
        "pruned_occurrences": sum(count * number for count, number in pruned),
    }


def _part_metadata(part: Path, splitting: Splitting) -> dict[str, str | int]:
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
