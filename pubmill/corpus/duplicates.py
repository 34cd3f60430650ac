"""Fingerprints of documents, and duplicates, found in one pass over the fingerprints, never over text.

A fingerprint is a digest of the words of `plain_words`, which ignore case, punctuation and spaces; and for
similar texts MinHashes, over sets of five successive words, as in Lee et al. (2022), "Deduplicating training
data makes language models better", 4.2.

Documents are ordered by the priority of their sources, and within a source by the order of its files. A
document is left out as `same_text` if an earlier one has the same words, and as `similar_text` if an earlier
kept one is similar: so every document that is left out is represented by one in the corpus. The division of
the documents into files makes no difference.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rensa import RMinHash

from pubmill.corpus.contamination import EvaluationTexts, plain_words
from pubmill.corpus.document_versions import merging
from pubmill.corpus.filters import selected_sections, with_reasons
from pubmill.corpus.shards import joined
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.storage.database import copy
from pubmill.storage.files import writing
from pubmill.storage.parquet import all_verified, parquet_writer

SHINGLE = 5
HASHES = 128
SEED = 1
BANDS = 16
"""Texts are compared if they agree in all 8 MinHashes of a band. If their sets overlap by 0.8,
this happens in at least one band with a chance of 1 - (1 - 0.8^8)^16 = 95 %; by 0.9, in all but one of ten
thousand cases."""

BAND_COLUMNS = [f"band{number:02d}" for number in range(BANDS)]
EXACT = pa.schema([("id", pa.string()), ("position", pa.int32()), ("digest", pa.binary(16))])
SIMILAR = pa.schema(
    [*EXACT, ("signature", pa.binary(4 * HASHES)), *(pa.field(name, pa.uint64()) for name in BAND_COLUMNS)]
)
ROWS_PER_GROUP = 4096

# Beyond this, rows spill to a folder beside the output.
MEMORY = "3GB"
PAIRS_AT_ONCE = 50_000

# A document's number rises with its shard and its position there.
_PRINTS = """
CREATE VIEW prints AS SELECT (shards.shard::BIGINT << 32) + rows.position AS document, rows.*
FROM read_parquet(getvariable('files'), filename = true) AS rows JOIN shards ON rows.filename = shards.file
"""
_SAME = """
CREATE TABLE copies AS SELECT document, first AS kept, 'same_text' AS reason
FROM prints JOIN (
    SELECT digest, min(document) AS first FROM prints WHERE digest IS NOT NULL
    GROUP BY digest HAVING count(*) > 1
) USING (digest) WHERE document > first
"""
# Documents that share a band are compared with the first of them and the preceding one, not all pairs.
_CANDIDATES = """
INSERT INTO pairs
WITH shared AS (
    SELECT document, first_value(document) OVER same AS first, lag(document) OVER same AS previous
    FROM prints ANTI JOIN copies USING (document) WHERE {band} IS NOT NULL
    WINDOW same AS (PARTITION BY {band} ORDER BY document)
)
SELECT document, first FROM shared WHERE first < document
UNION SELECT document, previous FROM shared WHERE previous IS NOT NULL
"""
_SIGNATURES = """
SELECT found.document, found.earlier, a.signature, b.signature
FROM (SELECT DISTINCT document, earlier FROM pairs) AS found
JOIN prints AS a ON a.document = found.document JOIN prints AS b ON b.document = found.earlier
"""
_RESULT = """
SELECT (copies.document >> 32)::INTEGER AS shard, (copies.document & 4294967295)::INTEGER AS position,
    copies.reason, prints.id AS kept
FROM copies JOIN prints ON prints.document = copies.kept ORDER BY copies.document
"""


def write_fingerprints(
    shard: Path,
    index: int,
    latest: Path,
    selection: SelectionRecipe,
    excluded: EvaluationTexts | None,
    output: Path,
    similar: bool,
) -> int:
    """Write fingerprints of the documents of a shard that nothing else rejects; return their number. A text
    without words has no digest and is never a duplicate."""

    def found() -> Iterator[dict[str, Any]]:
        for position, document, reason in with_reasons(shard, index, latest, selection, excluded):
            if reason is None:
                words = plain_words(joined(selected_sections(document, selection)))
                row: dict[str, Any] = {"id": document.id, "position": position, "digest": digest(words)}
                yield row | sketch(words) if similar and words else row

    schema, rows, count = SIMILAR if similar else EXACT, found(), 0
    with writing(output) as temporary, parquet_writer(temporary, schema) as writer:
        while group := list(islice(rows, ROWS_PER_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema))
            count += len(group)
    return count


def digest(words: list[str]) -> bytes | None:
    """Return a 128-bit digest of the words in their order; None without words."""
    return hashlib.blake2b(" ".join(words).encode(), digest_size=16).digest() if words else None


def sketch(words: list[str]) -> dict[str, Any]:
    """Return the MinHash signature, and a hash of each of its bands."""
    last = max(1, len(words) - SHINGLE + 1)
    sketched = RMinHash(num_perm=HASHES, seed=SEED)
    sketched.update([" ".join(words[place : place + SHINGLE]) for place in range(last)])
    signature = np.array(sketched.digest(), "<u4").tobytes()
    width = len(signature) // BANDS
    bands = (signature[k * width : (k + 1) * width] for k in range(BANDS))
    hashes = (hashlib.blake2b(band, digest_size=8).digest() for band in bands)
    numbers = (int.from_bytes(one, "little") for one in hashes)
    return {"signature": signature, **dict(zip(BAND_COLUMNS, numbers, strict=True))}


def write_duplicates(path: Path, fingerprints: Sequence[Path], similarity: float | None) -> None:
    """Write which documents are duplicates, sorted by shard and position. Columns: shard (index in
    `fingerprints`), position, reason, and `kept`, the id of the document that represents them. `similarity`
    is the smallest share of common MinHashes of similar texts; with None, similar texts are kept."""
    for file in fingerprints:
        if not file.is_file():
            raise PubmillError(f"{file} does not exist; make the fingerprints first")
    with writing(path) as temporary, merging(path, MEMORY) as connection:
        files = all_verified(fingerprints)
        connection.execute("CREATE TABLE shards (shard INTEGER, file VARCHAR)")
        connection.executemany("INSERT INTO shards VALUES (?, ?)", [list(pair) for pair in enumerate(files)])
        connection.execute("SET VARIABLE files = $files", {"files": files})
        connection.execute(_PRINTS)
        connection.execute(_SAME)
        if similarity is not None:
            connection.execute("CREATE TABLE pairs (document BIGINT, earlier BIGINT)")
            for band in BAND_COLUMNS:
                connection.execute(_CANDIDATES.format(band=band))
            batches = connection.sql(_SIGNATURES).to_arrow_reader(PAIRS_AT_ONCE)
            found = [np.empty((0, 2), np.int64)]
            for batch in batches:
                pairs = np.stack([batch.column(k).to_numpy(zero_copy_only=False) for k in (0, 1)], axis=1)
                hashes = (b"".join(batch.column(k).to_pylist()) for k in (2, 3))
                first, second = (np.frombuffer(one, "<u4").reshape(-1, HASHES) for one in hashes)
                found.append(pairs[(first == second).mean(axis=1) >= similarity])
            pairs = np.concatenate(found)
            kept: dict[int, int] = {}
            for document, earlier in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist():
                if document not in kept and earlier not in kept:
                    kept[document] = earlier
            numbers = pa.schema({"document": pa.int64(), "kept": pa.int64()})
            similar = pa.table({"document": list(kept), "kept": list(kept.values())}, numbers)
            connection.register("found", similar)
            # The document that represents equal texts may itself be similar to another one.
            connection.execute(
                "UPDATE copies SET kept = found.kept FROM found WHERE copies.kept = found.document"
            )
            connection.execute("INSERT INTO copies SELECT document, kept, 'similar_text' FROM found")
        copy(connection, _RESULT, temporary)
