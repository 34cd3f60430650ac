"""Fingerprints for comparing documents: a digest of the words and, for similar texts, MinHashes.

Words are those of `plain_words`, which ignore case, punctuation and spaces. MinHashes are over sets of five
successive words, as in Lee et al. (2022), "Deduplicating training data makes language models better", 4.2.
"""

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rensa import RMinHash

from pubmill.corpus.contamination import EvaluationTexts, plain_words
from pubmill.corpus.filters import selected_sections, with_reasons
from pubmill.corpus.shards import joined
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.storage.files import writing
from pubmill.storage.parquet import parquet_writer

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
