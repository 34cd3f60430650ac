"""From PubMed's files to a counted corpus, on a made-up baseline: files per hour, and the memory of every
job.

    .venv/bin/python benchmarks/baseline.py [--quick] [--records DIR] [--files 40] [--citations 30000] \\
        [--jobs 2]

The baseline repeats real citations: those of all pubmed*.xml.gz below DIR (by default
$PUBMILL_REAL_DATA/mirror), drawn with a seed and given new PMIDs; if there are none, made-up citations are
used. The last tenth of the files are updates, which revise and delete citations of the others.

The programs are the pipeline's own: parse, latest_versions, select_documents, corpus_statistics;
each job is a process, and `--jobs` of them run in parallel. Files per hour are measured by the wall clock,
with as many cores as jobs. The jobs over the whole corpus run twice, over one file and over all: their memory
must not grow with the number of files, except that of latest_versions up to its limit (`MEMORY` in
pubmill/corpus/document_versions.py).
The time for 1,334 files is extrapolated in proportion to the number of files.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isal import igzip

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.medline import citations

BASELINE = 1334  # files of the 2026 baseline
MIN_WORDS = 128  # gu2020 section 6.1
HEAD = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, '
    b'1st January 2025//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>\n'
)
_ARTICLE = re.compile(rb"<PubmedArticle>.*?</PubmedArticle>", re.S)
_PMID = re.compile(rb"<PMID[^>]*>\d+</PMID>")


@dataclass(frozen=True)
class Used:
    """Cost of a finished job: wall-clock seconds, processor seconds, peak resident MB."""

    seconds: float
    cpu: float
    peak: float


def real_records(folder: Path | None) -> list[bytes]:
    """Return all citations below a folder, unchanged."""
    paths = sorted(folder.rglob("pubmed*n*.xml.gz")) if folder and folder.is_dir() else []
    return [found[0] for path in paths for found in _ARTICLE.finditer(igzip.decompress(path.read_bytes()))]


def made_up_records() -> list[bytes]:
    return [record.strip().encode() for record in citations(500, seed=1)]


def write_file(path: Path, records: Sequence[bytes], pmids: Sequence[int], gone: Sequence[int]) -> int:
    """Write a file with a citation for each PMID, deleting those `gone`; return its uncompressed bytes."""
    draw = random.Random(path.name)
    size: int = 0
    with igzip.open(path, "wb", compresslevel=1) as file:
        size += file.write(HEAD)
        for pmid in pmids:
            record = _PMID.sub(b'<PMID Version="1">%d</PMID>' % pmid, draw.choice(records), count=1)
            size += file.write(record + b"\n")
        if gone:
            deleted = b"".join(b'<PMID Version="1">%d</PMID>\n' % pmid for pmid in gone)
            size += file.write(b"<DeleteCitation>\n%s</DeleteCitation>\n" % deleted)
        size += file.write(b"</PubmedArticleSet>\n")
    return size


def numbers(files: int, per_file: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield for each file the PMIDs of its citations and of its deletions; the last tenth are updates."""
    draw = random.Random(1)
    fresh = 1
    for index in range(files):
        old = per_file // 2 if index >= files - max(1, files // 10) and index else 0
        known = draw.sample(range(1, fresh), old + old // 100) if old else []
        yield [*range(fresh, fresh + per_file - old), *known[:old]], known[old:]
        fresh += per_file - old


def write_baseline(
    folder: Path, records: Sequence[bytes], files: int, per_file: int
) -> tuple[list[Path], int]:
    """Write the files; return them and their uncompressed size in bytes."""
    paths, size = [], 0
    for index, (pmids, gone) in enumerate(numbers(files, per_file), 1):
        paths.append(folder / f"pubmed26n{index:04d}.xml.gz")
        size += write_file(paths[-1], records, pmids, gone)
    return paths, size


def run(program: str, *arguments: object) -> Used:
    """Run one of the pipeline's programs to its end."""
    return run_command(sys.executable, "-m", "pubmill.job", program, *arguments)


def run_command(*command: object) -> Used:
    """Run a command to its end."""
    start = time.monotonic()
    job = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode:
        raise SystemExit(f"{command[1]} failed")
    return Used(time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)


class Corpus:
    """Commands of the rules over some of the files, in a separate folder."""

    def __init__(self, folder: Path, parsed: Path, names: Sequence[str]) -> None:
        self.folder, self.parsed, self.names = folder, parsed, names
        folder.mkdir()

    def parse(self, raw: Path) -> Used:
        folder, recipe = self.parsed / "pubmed", '{"source": "pubmed", "kind": "pubmed"}'
        block = folder / f"{raw.name}.json"
        return run("parse", "--files", raw, "--folder", folder, "--output", block, "--recipe", recipe)

    def latest(self) -> Used:
        recipe = json.dumps({"sources": [{"name": "pubmed", "shards": self.names}]})
        output = self.folder / "latest.parquet"
        return run("latest_versions", "--parsed", self.parsed, "--output", output, "--recipe", recipe)

    def select(self, index: int) -> Used:
        return run(
            "select_documents", "--shards", self.parsed / "pubmed" / f"{self.names[index]}.parquet",
            "--first", index, "--latest", self.folder / "latest.parquet", "--folder", self.folder,
            "--output", self.folder / f"block-{index}.json", "--recipe", json.dumps({"min_words": MIN_WORDS}),
        )  # fmt: skip

    def statistics(self) -> Used:
        return run(
            "corpus_statistics", "--corpus", self.folder, "--parts", len(self.names),
            "--manifest", self.folder / "manifest.parquet", "--output", self.folder / "stats.json",
            "--recipe", "{}",
        )  # fmt: skip


def report(stage: str, jobs: Sequence[Used], wall: float, files: int, workers: int) -> float:
    """Print a stage's line; return its hours for the whole baseline."""
    hours = wall / files * BASELINE / 3600
    print(
        f"{stage:18} {len(jobs):5} jobs  {sum(job.cpu for job in jobs):8.1f} CPU-s  {wall:8.1f} s wall on "
        f"{workers}  {files / wall * 3600:9.0f} files/h  peak MB first {jobs[0].peak:.0f}, last "
        f"{jobs[-1].peak:.0f}, most {max(job.peak for job in jobs):.0f}  {BASELINE} files: {hours:.2f} h",
        flush=True,
    )
    return hours


def measure(folder: Path, raw: Sequence[Path], workers: int) -> dict[str, float]:
    """Run all stages over all files, and the corpus stages also over the first file alone."""
    names = [path.name.removesuffix(".xml.gz") for path in raw]
    one = Corpus(folder / "one", folder / "parsed", names[:1])
    every = Corpus(folder / "all", folder / "parsed", names)
    hours = 0.0

    def stage(name: str, tasks: Sequence[Sequence[Any]], workers: int) -> None:
        nonlocal hours
        start = time.monotonic()
        with ThreadPoolExecutor(workers) as pool:
            jobs = list(pool.map(lambda task: task[0](*task[1:]), tasks))
        hours += report(name, jobs, time.monotonic() - start, len(raw), workers)
        peaks[name] = [job.peak for job in jobs]

    peaks: dict[str, list[float]] = {}
    stage("parse", [(every.parse, path) for path in raw], workers)
    single = {"latest_versions": one.latest().peak}
    one.select(0)
    single["corpus_statistics"] = one.statistics().peak
    stage("latest_versions", [(every.latest,)], 1)
    stage("select_documents", [(every.select, index) for index in range(len(raw))], workers)
    stage("corpus_statistics", [(every.statistics,)], 1)
    for name in single:
        print(f"{name}: {single[name]:.0f} MB over one file, {peaks[name][0]:.0f} MB over {len(raw)}")
    growth = {f"memory {name}": peaks[name][0] / single[name] for name in single}
    growth |= {f"memory {n}": peaks[n][-1] / peaks[n][0] for n in ("parse", "select_documents")}
    return {"hours of a whole baseline": hours, **growth}


def main() -> None:
    parser = argparse.ArgumentParser(description="A made-up baseline through the pipeline's programs.")
    parser.add_argument("--quick", action="store_true", help="2 files of 2,000 citations")
    parser.add_argument("--records", type=Path, help="folder with real pubmed*.xml.gz below it")
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--citations", type=int, default=30_000, help="citations per file")
    parser.add_argument("--jobs", type=int, default=2, help="parallel processes")
    parser.add_argument("--folder", type=Path, help="where a temporary folder is made; 40 files need 6 GB")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.files, arguments.citations = 2, 2000
    given = os.environ.get("PUBMILL_REAL_DATA")
    found = real_records(arguments.records or (Path(given, "mirror") if given else None))
    records = found or made_up_records()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
        folder = Path(temporary)
        (folder / "raw").mkdir()
        raw, size = write_baseline(folder / "raw", records, arguments.files, arguments.citations)
        packed = sum(path.stat().st_size for path in raw)
        print(
            f"{len(raw)} files of {arguments.citations:,} citations from {len(records):,} "
            f"{'real' if found else 'made-up'} ones: {size / 1e6:.0f} MB, packed {packed / 1e6:.0f} MB"
        )
        ratios = measure(folder, raw, arguments.jobs)
        stats = json.loads((folder / "all/stats.json").read_text(encoding="utf-8"))
    counts = {key: stats[key] for key in ("parsed", "deletions", "documents", "words", "bytes", "rejected")}
    print(f"corpus: {counts}")
    print(f"{BASELINE} files: {stats['bytes'] / len(raw) * BASELINE / 1e9:.1f} GB of text")
    for name, value in ratios.items():
        print(f"{name}: {value:.2f}")


if __name__ == "__main__":
    main()
