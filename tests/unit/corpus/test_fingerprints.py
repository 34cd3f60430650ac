"""Fingerprints of one run of pubmill are compared with those of another: they must stay the same."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from pubmill.corpus.duplicates import write_duplicates
from pubmill.corpus.fingerprints import BANDS, EXACT, HASHES, SIMILAR, digest, sketch
from pubmill.storage.parquet import open_parquet, parquet_writer

WORDS = "the gene is expressed in the cells of the liver".split()


def test_the_digest_and_sketch_of_a_text() -> None:
    assert digest([]) is None
    expected = hashlib.blake2b(b"the gene is expressed in the cells of the liver", digest_size=16)
    assert digest(WORDS) == expected.digest()
    found = sketch(WORDS)
    signature = found.pop("signature")
    assert len(signature) == 4 * HASHES and list(found) == [f"band{number:02d}" for number in range(16)]
    for number, band in enumerate(found.values()):
        part = signature[32 * number : 32 * number + 32]  # 8 of the MinHashes
        assert band == int.from_bytes(hashlib.blake2b(part, digest_size=8).digest(), "little")
    assert hashlib.sha256(signature).hexdigest()[:16] == "72d1b3398504a126"
    width = HASHES // BANDS
    assert round(1 - (1 - 0.8**width) ** BANDS, 2) == 0.95
    assert (1 - 0.9**width) ** BANDS < 2e-4


@pytest.mark.parametrize(("equal", "similar"), [(100, False), (101, True), (128, True)])
def test_similar_texts_agree_in_enough_minhashes(tmp_path: Path, equal: int, similar: bool) -> None:
    """A text beside one whose signature agrees in so many numbers; they share the first bands."""
    rows = []
    for number in range(2):
        signature = np.arange(HASHES, dtype="<u4")
        signature[equal:] += 1000 * number
        bands = {name: n if n < 10 else n + 100 * number for n, name in enumerate(SIMILAR.names[4:])}
        row = {"id": f"d{number}", "position": number, "digest": bytes([number] * 16)}
        rows.append(row | {"signature": signature.tobytes()} | bands)
    prints, output = tmp_path / "prints.parquet", tmp_path / "duplicates.parquet"
    with parquet_writer(prints, SIMILAR) as writer:
        writer.write_table(writer.schema.empty_table().from_pylist(rows, SIMILAR))
    write_duplicates(output, [prints], 101 / 128)
    found = [{"shard": 0, "position": 1, "reason": "similar_text", "kept": "d0"}]
    assert open_parquet(output).read().to_pylist() == (found if similar else [])
    assert SIMILAR.names[: len(EXACT)] == EXACT.names
