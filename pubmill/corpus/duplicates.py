"""Duplicate documents, found in one pass over fingerprints, never over text.

Documents are ordered by the priority of their sources, and within a source by the order of its files. A
document is left out as `same_text` if an earlier one has the same words, and as `similar_text` if an earlier
kept one is similar: so every document that is left out is represented by one in the corpus. The division of
the documents into files makes no difference.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pubmill.corpus.document_versions import merging
from pubmill.corpus.fingerprints import BAND_COLUMNS, HASHES
from pubmill.errors import PubmillError
from pubmill.storage.database import copy
from pubmill.storage.files import writing
from pubmill.storage.parquet import all_verified

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
