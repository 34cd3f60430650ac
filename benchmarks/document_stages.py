"""What each stage costs by the document: processor seconds, memory and bytes, of citations and of articles.

    .venv/bin/python benchmarks/document_stages.py [--quick] [--citations 30000] [--articles 2000] \\
        [--records DIR] [--punkt punkt_tab.zip]

One file of PubMed and one archive of PMC are taken through the pipeline's own programs, from parsing to
packed tokens, each program in a process of its own, at half of the size and at all of it. The citations are
those of `benchmarks/baseline.py` (real ones below DIR, by default $PUBMILL_REAL_DATA/mirror, else made-up
ones), the articles are made up and as long as PMC's own (`benchmarks/pmc.py`, about 80 kB of XML). Without
--punkt nothing is packed. The figures for all of PubMed and PMC are extrapolated with the cost of the second
half.
"""

import argparse
import io
import json
import os
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.baseline import MIN_WORDS, Used, made_up_records, real_records, run, write_file
from benchmarks.pmc import USUAL, articles
from pubmill.corpus.contamination import write_index
from pubmill.recipes.corpora import EvaluatedDataset
from pubmill.storage.files import write_json, write_jsonl_gz
from pubmill.storage.result_paths import part_name, shard_name

TARGETS = {"citations": 40_000_000, "articles": 8_000_000}
RAW = {"citations": "pubmed26n0001.xml.gz", "articles": "PMC00000xxxx.tar.gz"}
SELECTED = {"pubmed": {"min_words": MIN_WORDS}, "pmc": {"parts": ["abstract", "body"]}}
WORDS, VOCAB = {"splitting": "bert-uncased"}, {"kind": "wordpiece", "size": 8000, "lowercase": True}
METADATA = {
    "is_retracted": False, "is_manuscript": False, "is_historical_ocr": False, "license_code": "CC BY",
}  # fmt: skip


def write_archive(path: Path, count: int) -> None:
    """Write made-up articles as `fetch_pmc.py` does: of each its JSON, then its XML."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for number, text in enumerate(articles(count, seed=1), 1):
            facts = {"pmcid": f"PMC{number}", "version": 1, "pmid": number, **METADATA}
            for kind, content in (("json", json.dumps(facts).encode()), ("xml", text.encode())):
                entry = tarfile.TarInfo(f"PMC{number}.1.{kind}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))


Costs = dict[str, tuple[Used, int]]
"""Cost of each stage, and the bytes that it wrote."""


class Stages:
    """The stages over one file, in a folder; `punkt`: the tables of sentences; `index`: texts to find."""

    def __init__(self, folder: Path, raw: Path, punkt: Path | None, index: Path) -> None:
        self.folder, self.raw, self.punkt, self.index = folder, raw, punkt, index
        self.source = "pubmed" if raw.name == RAW["citations"] else "pmc"
        self.part, self.latest = folder / "corpus" / part_name(0), folder / "latest.parquet"
        self.words = folder / "words" / part_name(0)

    def run_all(self) -> Costs:
        """Run every stage; return its cost and the bytes that it wrote."""
        steps = [
            self.parse, self.latest_versions, self.fingerprint, self.select, self.count_words,
            self.contamination, self.vocab, *([self.pack] if self.punkt else []),
        ]  # fmt: skip
        return {step.__name__: self._measured(step) for step in steps}

    def _measured(self, step: Callable[[], Used]) -> tuple[Used, int]:
        before = self._size()
        return step(), self._size() - before

    def _size(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def parse(self) -> Used:
        recipe: dict[str, object] = {"source": self.source, "kind": self.source}
        if self.source == "pmc":
            recipe |= {"leave_out": USUAL}
        return self._block("parse", self._shard().parent, recipe, "--files", self.raw)

    def _shard(self) -> Path:
        return self.folder / "parsed" / self.source / f"{shard_name(self.raw.name)}.parquet"

    def _block(self, program: str, folder: Path, recipe: object, *more: object) -> Used:
        """Run a program that makes files in `folder`; its block is this one file."""
        block = self.folder / "block.json"
        return run(program, "--folder", folder, "--output", block, "--recipe", json.dumps(recipe), *more)

    def latest_versions(self) -> Used:
        recipe = json.dumps({"sources": [{"name": self.source, "shards": [self._shard().stem]}]})
        parsed = self.folder / "parsed"
        return run("latest_versions", "--parsed", parsed, "--output", self.latest, "--recipe", recipe)

    def fingerprint(self) -> Used:
        recipe = {"selection": SELECTED[self.source], "similar": True}
        return self._block("fingerprint", self.folder / "prints", recipe, *self._of_shard())

    def select(self) -> Used:
        recipe = SELECTED[self.source]
        return self._block("select_documents", self.part.parent, recipe, *self._of_shard())

    def _of_shard(self) -> Sequence[object]:
        return ("--shards", self._shard(), "--first", 0, "--latest", self.latest)

    def count_words(self) -> Used:
        return self._block("count_words", self.words.parent, WORDS, "--parts", self.part)

    def contamination(self) -> Used:
        found, block = self.folder / "found", self.folder / "block.json"
        return run("find_contamination", "--parts", self.part, "--index", self.index, "--folder", found,
                   "--output", block)  # fmt: skip

    def vocab(self) -> Used:
        return run("train_vocab", "--words", self.words.parent, "--parts", 1, "--output",
                   self.folder / "vocab", "--recipe", json.dumps(VOCAB))  # fmt: skip

    def pack(self) -> Used:
        return run("pack", "--corpus", self.part.parent, "--parts", 1, "--vocab", self.folder / "vocab",
                   "--punkt", self.punkt, "--output", self.folder / "tokens", "--processes", 1,
                   "--recipe", "{}")  # fmt: skip


def show(kind: str, half: Costs, whole: Costs, size: int) -> dict[str, list[float]]:
    """Print the stages of a kind of documents, and return their figures; the two runs are of `size // 2` and
    `size` documents."""
    target, figures = TARGETS[kind], {}
    print(f"{kind}: CPU-s for {size // 2:,} and {size:,}, peak MB, kB written per document; for {target:,} "
          "CPU-h and GB")  # fmt: skip
    for name, (used, written) in whole.items():
        first, each = half[name][0], written / size
        hours = (used.cpu + (used.cpu - first.cpu) * (target - size) / (size - size // 2)) / 3600
        print(f"  {name:16} {first.cpu:8.2f} {used.cpu:8.2f}  {used.peak:6.0f}  {each / 1e3:7.3f}  "
              f"{hours:8.2f} {each * target / 1e9:8.1f}", flush=True)  # fmt: skip
        figures[name] = [first.cpu, used.cpu, used.peak, each]
    return figures


def measure(folder: Path, chosen: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    given = os.environ.get("PUBMILL_REAL_DATA")
    real = real_records(chosen.records or (Path(given, "mirror") if given else None))
    records = real or made_up_records()
    print(f"citations drawn from {len(records):,} {'real' if real else 'made-up'} ones")
    rows = [
        {"id": str(n), "document": None, "text": one.decode()[:400]} for n, one in enumerate(records[:200])
    ]
    write_jsonl_gz(folder / "d/test.jsonl.gz", rows)
    index = folder / "index.parquet"
    write_index(index, [EvaluatedDataset(dataset="d", splits=("test",), pmids=False)], folder)

    def costs(kind: str, count: int) -> Costs:
        place, raw = folder / f"{kind}-{count}", folder / f"raw-{kind}-{count}" / RAW[kind]
        place.mkdir()
        raw.parent.mkdir()
        if kind == "citations":
            write_file(raw, records, range(1, count + 1), [])
        else:
            write_archive(raw, count)
        return Stages(place, raw, chosen.punkt, index).run_all()

    sizes = {kind: getattr(chosen, kind) for kind in TARGETS}
    return {kind: show(kind, costs(kind, size // 2), costs(kind, size), size) for kind, size in sizes.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2,000 citations and 200 articles")
    parser.add_argument("--citations", type=int, default=30_000)
    parser.add_argument("--articles", type=int, default=2_000)
    parser.add_argument("--records", type=Path, help="folder with real pubmed*.xml.gz below it")
    parser.add_argument("--punkt", type=Path, help="NLTK's punkt_tab.zip")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.citations, chosen.articles = 2000, 200
    with tempfile.TemporaryDirectory() as folder:
        results = measure(Path(folder), chosen)
    if chosen.output:
        write_json(chosen.output, {"documents": {kind: getattr(chosen, kind) for kind in TARGETS}, **results})


if __name__ == "__main__":
    main()
