"""Memory and time of finding the current versions, over as many made-up ids as PubMed has.

    .venv/bin/python benchmarks/versions.py [--quick] [--ids 40000000]

First, shards of ids without text are written: 30,000 citations each, as in PubMed's files; a tenth of the
files are updates, in which every second citation revises an earlier one, and some are deleted. The correct
result is known from how the shards were made, and is checked. The merge itself is
the job `latest_versions` in a separate process, whose seconds and peak resident memory are shown. The
target for 40 million ids is 4 GB and 10 minutes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.corpus.shards import SCHEMA

PER_FILE = 30_000
DELETED = 100  # deletions at the end of an update


@dataclass
class Expected:
    """Number of citations that the merge must find for each reason."""

    kept: int = 0
    superseded: int = 0
    deleted: int = 0


def write_ids(path: Path, pmids: np.ndarray, deleted: int, order: int) -> None:
    """Write a parsed shard of citations without text; the last `deleted` rows are deletions."""
    rows = len(pmids)
    names = pc.binary_join_element_wise("pmid:", pa.array(pmids).cast(pa.string()), "")
    gone = np.zeros(rows, bool)
    gone[rows - deleted :] = True
    given = {
        "id": names,
        "version": pa.array(np.ones(rows, np.int32)),
        "order": pa.array(np.full(rows, order)),
        "position": pa.array(np.arange(rows, dtype=np.int32)),
        "deleted": pa.array(gone),
    }
    columns = [given.get(field.name, pa.nulls(rows, field.type)) for field in SCHEMA]
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        writer.write_table(pa.table(columns, schema=SCHEMA), row_group_size=4096)


def write_shards(folder: Path, ids: int, seed: int = 1) -> tuple[list[str], Expected]:
    """Write shards with `ids` citations in total; return their names and the expected result."""
    draw = np.random.default_rng(seed)
    files = max(2, ids // PER_FILE)
    baseline = files - max(1, files // 10)
    state = np.zeros(files * PER_FILE, np.int8)  # of each PMID: 0 unknown, 1 current, 2 deleted
    fresh, expected, names = 0, Expected(), []
    for number in range(1, files + 1):
        revised = 0 if number <= baseline else PER_FILE // 2
        old = draw.choice(fresh, revised + (DELETED if revised else 0), replace=False)
        new = np.arange(fresh, fresh + PER_FILE - revised)
        fresh += len(new)
        expected.superseded += revised
        expected.deleted += int((state[old[revised:]] == 1).sum())
        # A citation that was deleted and is now revised is current again; its older record is superseded.
        expected.deleted -= int((state[old[:revised]] == 2).sum())
        state[new], state[old[:revised]], state[old[revised:]] = 1, 1, 2
        names.append(f"pubmed26n{number:04d}")
        rows = np.concatenate([draw.permutation(np.concatenate([new, old[:revised]])), old[revised:]])
        write_ids(folder / f"{names[-1]}.parquet", rows, len(old) - revised, 260000 + number)
    expected.kept = int((state == 1).sum())
    return names, expected


def merge(parsed: Path, names: list[str], output: Path) -> tuple[float, float]:
    """Run the merge; return its seconds and the peak resident GB of its process."""
    recipe = json.dumps({"sources": [{"name": "pubmed", "shards": names}]})
    command = [sys.executable, "-m", "pubmill.job", "latest_versions", "--parsed", str(parsed)]
    start = time.monotonic()
    job = subprocess.Popen([*command, "--output", str(output), "--recipe", recipe])
    _, status, used = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode:
        raise SystemExit("the merge failed")
    return time.monotonic() - start, used.ru_maxrss / 1e6


def found(output: Path) -> Expected:
    query = "SELECT coalesce(reason, 'kept'), count(*) FROM read_parquet(?) GROUP BY 1"
    return Expected(**dict(duckdb.execute(query, [str(output)]).fetchall()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Merging versions and deletions of many ids.")
    parser.add_argument("--quick", action="store_true", help="one million ids, within a minute")
    parser.add_argument("--ids", type=int, default=40_000_000, help="citations altogether")
    parser.add_argument("--folder", type=Path, help="where the shards are written (default: a temporary one)")
    arguments = parser.parse_args()
    ids = 1_000_000 if arguments.quick else arguments.ids
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        parsed = Path(folder, "parsed")
        (parsed / "pubmed").mkdir(parents=True)
        names, expected = write_shards(parsed / "pubmed", ids)
        print(f"{len(names)} files of {PER_FILE:,} citations, {expected}", flush=True)
        seconds, peak = merge(parsed, names, Path(folder, "latest.parquet"))
        assert found(Path(folder, "latest.parquet")) == expected, found(Path(folder, "latest.parquet"))
    print(
        f"merge: {seconds:.0f} s, {peak:.2f} GB resident, {len(names) * PER_FILE / seconds / 1e6:.2f} M ids/s"
    )
    print(f"seconds: {seconds:.1f}")
    print(f"memory_gb: {peak:.2f}")


if __name__ == "__main__":
    main()
