"""Laws of the passes over a whole corpus: processor seconds and memory by the number of documents.

    .venv/bin/python benchmarks/scale.py [--quick] [--passes ids duplicates words] [--ids 5000000] \\
        [--documents 400000] [--for 40000000]

Each pass runs at a quarter, at half and at all of the size, as the pipeline's own program in a process of its
own: `latest_versions.py` over made-up ids (as benchmarks/versions.py), `find_duplicates.py` over made-up
fingerprints with planted copies, all of which must be found: one document in twenty is an equal copy of an
earlier one, one in twenty a copy with 12 of 128 MinHashes changed; `train_vocab.py` over made-up counts of
words, 100,000 in each part of 30,000 documents, of which 30,000 are in no other part. The pass is linear if a
million more documents take equally long between the sizes; `--for` documents are extrapolated.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


from benchmarks.baseline import Used, run
from benchmarks.versions import found, write_shards
from pubmill.corpus.duplicates import BANDS, HASHES, SIMILAR
from pubmill.storage.parquet import parquet_writer
from pubmill.storage.result_paths import part_name
from pubmill.vocabs.word_counts import METADATA

PER_FILE = 30_000
CHANGED = 12
COMMON, OWN = 70_000, 30_000
PASSES = ("ids", "duplicates", "words")


def latest(folder: Path, ids: int) -> Used:
    """Find the current versions of so many ids."""
    parsed = folder / "parsed/pubmed"
    parsed.mkdir(parents=True)
    names, expected = write_shards(parsed, ids)
    output, recipe = folder / "latest.parquet", json.dumps({"sources": [{"name": "pubmed", "shards": names}]})
    used = run("latest_versions", "--parsed", parsed.parent, "--output", output, "--recipe", recipe)
    assert found(output) == expected
    return used


def duplicates(folder: Path, documents: int) -> Used:
    """Find planted copies among so many documents."""
    draw, copies = np.random.default_rng(1), 0
    for first in range(0, documents, PER_FILE):
        rows = min(PER_FILE, documents - first)
        copies += write_prints(folder / part_name(first // PER_FILE), draw, first, rows)
    output = folder / "duplicates.parquet"
    used = run(
        "find_duplicates", "--fingerprints", folder, "--parts", -(-documents // PER_FILE),
        "--output", output, "--recipe", '{"similarity": 0.8}',
    )  # fmt: skip
    assert pq.read_metadata(output).num_rows == copies
    return used


def write_prints(path: Path, draw: np.random.Generator, first: int, rows: int) -> int:
    """Write fingerprints of documents from number `first` on; return how many of them are copies."""
    signatures = draw.integers(0, 1 << 32, (rows, HASHES), np.uint32)
    digests = draw.bytes(16 * rows)
    digest = [digests[16 * n : 16 * n + 16] for n in range(rows)]
    tenth = rows // 20
    for n in range(tenth):  # originals come first
        digest[tenth * 10 + n], signatures[tenth * 10 + n] = digest[n], signatures[n]
        similar = signatures[tenth + n].copy()
        similar[draw.choice(HASHES, CHANGED, replace=False)] += np.uint32(1)
        signatures[tenth * 15 + n] = similar
    mixed = signatures.reshape(rows, BANDS, -1).astype(np.uint64)
    bands = (mixed * draw_odd(mixed.shape[2])).sum(axis=2)
    columns = {
        "id": [f"text:{first + n}" for n in range(rows)],
        "position": pa.array(np.arange(rows, dtype=np.int32)),
        "digest": pa.array(digest, pa.binary(16)),
        "signature": pa.array([one.tobytes() for one in signatures], pa.binary(4 * HASHES)),
        **{f"band{k:02d}": pa.array(bands[:, k]) for k in range(BANDS)},
    }
    pq.write_table(pa.table(columns, schema=SIMILAR), path, compression="zstd")
    return 2 * tenth


def words(folder: Path, documents: int) -> Used:
    """Learn a vocabulary from the counts of words of so many documents."""
    parts, draw = -(-documents // PER_FILE), np.random.default_rng(1)
    metadata = {"splitting": "bert-uncased", "documents": PER_FILE, "running": 6_000_000}
    common = np.array([spelt(n) for n in range(2 * COMMON)])
    for part in range(parts):
        shared = common[draw.choice(len(common), COMMON, replace=False)]
        own = [spelt(10**6 + part * OWN + n) for n in range(OWN)]
        counts = [*draw.zipf(1.3, COMMON).clip(max=10**6), *[1] * OWN]
        table = pa.table({"word": [*shared, *own], "count": pa.array(counts, pa.int64())}).sort_by("word")
        table = table.replace_schema_metadata({METADATA: json.dumps(metadata)})
        with parquet_writer(folder / part_name(part), table.schema) as writer:
            writer.write_table(table)
    recipe = json.dumps({"kind": "wordpiece", "size": 30_522, "lowercase": True})
    return run("train_vocab", "--words", folder, "--parts", parts, "--output", folder / "vocab",
               "--recipe", recipe)  # fmt: skip


def spelt(number: int) -> str:
    """Return a word for a number, another one for each."""
    letters = "etaoinshrdlcumwfgypbvk"
    name = letters[number % 22]
    while number := number // 22:
        name += letters[(7 * number) % 22]
    return name


def draw_odd(count: int) -> np.ndarray:
    return np.random.default_rng(2).integers(0, 1 << 62, count, np.uint64) * np.uint64(2) + np.uint64(1)


def law(measure: Callable[[Path, int], Used], name: str, most: int, target: int) -> None:
    """Print what a pass uses at three sizes, and the seconds that a million more documents take."""
    sizes, cpu = [most // 4, most // 2, most], list[float]()
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            used = measure(Path(folder), size)
        cpu.append(used.cpu)
        print(f"{name}: {size:,} in {used.cpu:.1f} CPU-s, {used.peak:.0f} MB", flush=True)
    steps = [
        (later - earlier) / (larger - smaller)
        for earlier, later, smaller, larger in zip(cpu, cpu[1:], sizes, sizes[1:], strict=False)
    ]
    each = " and ".join(f"{1e6 * step:.2f}" for step in steps)
    print(f"{name}: a million more in {each} CPU-s, between the sizes")
    print(f"{name}: {target:,} in {cpu[-1] + steps[-1] * (target - most):.0f} CPU-s, if the last holds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="200,000 ids and 120,000 documents")
    parser.add_argument("--passes", nargs="+", choices=PASSES, default=PASSES)
    parser.add_argument("--ids", type=int, default=5_000_000)
    parser.add_argument("--documents", type=int, default=400_000)
    parser.add_argument("--for", type=int, default=40_000_000, dest="target")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.ids, chosen.documents = 200_000, 120_000
    for name in chosen.passes:
        measure, size = {
            "ids": (latest, chosen.ids), "duplicates": (duplicates, chosen.documents),
            "words": (words, chosen.documents),
        }[name]  # fmt: skip
        law(measure, name, size, chosen.target)


if __name__ == "__main__":
    main()
