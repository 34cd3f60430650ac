"""Cost of a corpus and of one more daily file of PubMed, in processor seconds and bytes written, by stage.

    .venv/bin/python benchmarks/updates.py [--quick] [--files 40] [--citations 2000] [--daily 200] \\
        [--touched 1] [--days 3] [--check] [--output FILE.json]

A baseline of made-up citations is built with the pipeline's own programs, one process a job. Then each day
adds a file whose citations are half new and half revisions of citations of `--touched` files of the baseline.
The jobs of a day are those that `pubmill update` starts: a job runs if the bytes of an input changed.
Snakemake's own time is not in it. Bytes are those of the files that jobs wrote, downloads excluded. With
`--check`, the last day is built from scratch at the end, and all files must be the same. The slope is that of
a straight line through the days, by least squares.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import fmean, linear_regression

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.baseline import MIN_WORDS, made_up_records, run, write_file
from pubmill.corpus.contamination import write_index
from pubmill.corpus.part_tables import PARTS_OF_BLOCK
from pubmill.recipes.corpora import EvaluatedDataset
from pubmill.storage.files import write_jsonl_gz
from pubmill.storage.result_paths import Paths, part_name

SEARCHED = 32  # parts that one job searches, as PARTS_AT_ONCE of pubmill/stages/contamination_jobs.py
SIZES = {"files": 40, "citations": 2000, "daily": 200, "touched": 1, "days": 3}


class Corpus:
    """A corpus in a folder; `cpu`, `written` and `jobs` are costs since the last `reset`, by stage."""

    def __init__(self, folder: Path, index: Path) -> None:
        self.folder, self.index = folder, index
        self.parsed = folder / "parsed/pubmed"
        self.parsed.mkdir(parents=True)
        self.done: dict[str, str] = {}
        self.reset()

    def reset(self) -> None:
        self.cpu: dict[str, float] = defaultdict(float)
        self.written: dict[str, int] = defaultdict(int)
        self.jobs: dict[str, int] = defaultdict(int)

    def job(self, program: str, outputs: Sequence[Path], inputs: Sequence[Path], *arguments: object) -> None:
        """Run a program unless it ran with the same inputs."""
        key = repr([arguments, *(sha256(path.read_bytes()).hexdigest() for path in inputs)])
        if self.done.get(str(outputs[0])) != key:
            self.jobs[program] += 1
            self.cpu[program] += run(f"{program}.py", *arguments).cpu
            self.written[program] += sum(path.stat().st_size for path in outputs)
            self.done[str(outputs[0])] = key

    def make(self, raw: Sequence[Path]) -> None:
        """Bring the corpus to the state of these files."""
        names, at = [path.name.removesuffix(".xml.gz") for path in raw], self.folder.__truediv__
        shards = [self.parsed / f"{name}.parquet" for name in names]
        for path, shard in zip(raw, shards, strict=True):
            recipe = '{"source": "pubmed"}'
            self.job("parse_medline", [shard], [path], "--input", path, "--output", shard, "--recipe", recipe)
        latest, recipe = at("latest.parquet"), json.dumps({"sources": [{"name": "pubmed", "shards": names}]})
        blocks = [at("latest") / Path(path).name for path in Paths().blocks("c", "latest")]
        self.job("latest_versions", [latest, *blocks], shards, "--parsed", self.parsed.parent,
                 "--output", latest, "--blocks", *blocks, "--recipe", recipe)  # fmt: skip
        rows = [at("latest") / part_name(n) for n in range(-(-len(raw) // PARTS_OF_BLOCK) * PARTS_OF_BLOCK)]
        for block, first in zip(blocks, range(0, len(rows), PARTS_OF_BLOCK), strict=False):
            outputs = rows[first : first + PARTS_OF_BLOCK]
            self.job("divide_by_part", outputs, [block], "--table", block, "--first", first,
                     "--outputs", *outputs)  # fmt: skip
        parts = [at(part_name(n)) for n in range(len(raw))]
        for n, part in enumerate(parts):
            statistics, words = part.with_suffix(".json"), at("words") / part.name
            self.job("select_documents", [part, statistics], [shards[n], rows[n]], "--shard", shards[n],
                     "--index", n, "--latest", rows[n], "--output", part, "--statistics", statistics,
                     "--recipe", json.dumps({"min_words": MIN_WORDS}))  # fmt: skip
            self.job("count_words", [words], [part], "--part", part, "--output", words, "--recipe",
                     '{"splitting": "bert-uncased"}')  # fmt: skip
        self._whole(parts)

    def _whole(self, parts: Sequence[Path]) -> None:
        manifest, stats = self.folder / "manifest.parquet", self.folder / "stats.json"
        self.job("corpus_statistics", [manifest, stats], parts, "--corpus", self.folder, "--parts",
                 len(parts), "--manifest", manifest, "--output", stats,
                 "--recipe", '{"corpus": "c"}')  # fmt: skip
        for first in range(0, len(parts), SEARCHED):
            some, found = parts[first : first + SEARCHED], self.folder / f"found-{first:04d}.json"
            self.job("find_contamination", [found], [*some, self.index], "--parts", *some, "--index",
                     self.index, "--output", found)  # fmt: skip


def write_day(path: Path, records: Sequence[bytes], fresh: int, old: Sequence[int], count: int) -> None:
    """Write a daily file: half new citations, half revisions of old ones."""
    revised = random.Random(path.name).sample(old, count // 2)
    write_file(path, records, [*range(fresh, fresh + count - len(revised)), *revised], [])


def show(title: str, corpus: Corpus, costs: list[dict[str, dict[str, float]]]) -> None:
    """Print what was used since the last reset, also as a share of the first of `costs`; add it to them."""
    cpu, written = sum(corpus.cpu.values()), sum(corpus.written.values())
    whole = [sum(costs[0][name].values()) for name in ("cpu", "written")] if costs else []
    share = f"  {cpu / whole[0]:.3f} and {written / whole[1]:.3f} of the build" if whole else ""
    print(f"{title}: {cpu:.1f} CPU-s, {written / 1e6:.2f} MB{share}")
    stages = (
        f"{name} {corpus.jobs[name]} {corpus.cpu[name]:.1f} s {corpus.written[name] / 1e6:.2f} MB"
        for name in corpus.cpu
    )
    print("   ", ", ".join(stages), flush=True)
    costs.append({"cpu": dict(corpus.cpu), "written": dict(corpus.written), "jobs": dict(corpus.jobs)})
    corpus.reset()


def show_slopes(costs: Sequence[dict[str, dict[str, float]]]) -> None:
    """Print the mean cost of a day, and how it rises over the days."""
    for name, unit, scale in (("cpu", "CPU-s", 1.0), ("written", "MB", 1e6), ("jobs", "jobs", 1.0)):
        days = [sum(day[name].values()) / scale for day in costs[1:]]
        slope, _ = linear_regression(range(len(days)), days)
        print(
            f"{unit} a day: mean {fmean(days):.2f}, slope {slope:+.4f} a day, {slope * len(days):+.2f} in all"
        )


def evaluation_index(folder: Path, records: Sequence[bytes]) -> Path:
    rows = [
        {"id": str(n), "document": None, "text": one.decode()[:400]} for n, one in enumerate(records[:200])
    ]
    write_jsonl_gz(folder / "d/test.jsonl.gz", rows)
    write_index(
        folder / "index.parquet", [EvaluatedDataset(dataset="d", splits=("test",), pmids=False)], folder
    )
    return folder / "index.parquet"


def measure(folder: Path, chosen: argparse.Namespace) -> None:
    records, raw, fresh = made_up_records(), list[Path](), 1
    index = evaluation_index(folder, records)
    for number in range(1, chosen.files + 1):
        raw.append(folder / f"pubmed26n{number:04d}.xml.gz")
        write_file(raw[-1], records, range(fresh, fresh + chosen.citations), [])
        fresh += chosen.citations
    corpus = Corpus(folder / "updated", index)
    corpus.make(raw)
    costs = list[dict[str, dict[str, float]]]()
    show(f"build of {chosen.files} files of {chosen.citations} citations", corpus, costs)
    for day in range(1, chosen.days + 1):
        first = random.Random(day).randrange(chosen.files - chosen.touched + 1) * chosen.citations + 1
        raw.append(folder / f"pubmed26n{chosen.files + day:04d}.xml.gz")
        write_day(
            raw[-1], records, fresh, range(first, first + chosen.touched * chosen.citations), chosen.daily
        )
        fresh += chosen.daily
        corpus.make(raw)
        show(f"day {day}, {chosen.daily} citations, {chosen.touched} files revised", corpus, costs)
        if chosen.output:
            sizes = {name: getattr(chosen, name) for name in SIZES}
            chosen.output.write_text(
                json.dumps({**sizes, "build": costs[0], "day": costs[1:]}) + "\n", encoding="utf-8"
            )
    if chosen.days > 1:
        show_slopes(costs)
    if chosen.check:
        scratch = Corpus(folder / "scratch", index)
        scratch.make(raw)
        assert content(corpus.folder) == content(scratch.folder)
        print("the last day built from scratch: the same bytes")


def content(folder: Path) -> dict[str, str]:
    digest: Callable[[Path], str] = lambda path: sha256(path.read_bytes()).hexdigest()  # noqa: E731
    return {str(path.relative_to(folder)): digest(path) for path in folder.rglob("*") if path.is_file()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, usual in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--quick", action="store_true", help="4 files and one day")
    parser.add_argument("--output", type=Path, help="JSON file for the costs of all days, by stage")
    parser.add_argument("--check", action="store_true", help="build the last day from scratch too")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.files, chosen.days = 4, 1
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), chosen)


if __name__ == "__main__":
    main()
