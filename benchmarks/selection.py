"""Speed and memory of finding copies and texts of datasets, over made-up documents.

    .venv/bin/python benchmarks/selection.py [--quick] [--documents 100000]

The documents have 200 words; one in twenty is a copy of another, one in twenty a copy with its last words
changed, and one in a hundred contains a text of a dataset. The correct result is therefore known, and is
checked. Each step runs the pipeline's own program in a separate process, whose processor seconds and peak
resident memory are shown. There is no peer. Last lines: `name: documents/s`.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.baseline import Used, run
from benchmarks.vocabs import make_texts
from pubmill.corpus.contamination import write_index
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.shards import Document, write_shard
from pubmill.corpus.statistics import select
from pubmill.recipes.corpora import EvaluatedDataset, SelectionRecipe
from pubmill.storage.files import read_json, write_jsonl_gz

EVALUATED = 5_000


def documents(texts: list[str], evaluated: list[str]) -> Iterator[Document]:
    """Yield documents: in each twenty, the last is a copy of the first, and the one before it a near copy.

    In each hundred, one contains a text of a dataset.
    """
    for number, own in enumerate(texts):
        text, first = own, texts[number - number % 20]
        if number % 20 == 19:
            text = first.upper()
        elif number % 20 == 18:
            text = first.rsplit(" ", 5)[0] + " and some other last words"
        elif number % 100 == 1:
            text = f"{own} {evaluated[number % EVALUATED]}"
        yield Document(id=f"text:{number}", sections=(("", text),))


def prepare(folder: Path, count: int) -> None:
    """Write a parsed shard, its part of a corpus, and the index of a dataset's texts."""
    shard, latest = folder / "shard.parquet", folder / "latest.parquet"
    evaluated = [text[:300] for text in make_texts(EVALUATED, 30_000, seed=2)]
    write_shard(shard, documents(make_texts(count, 30_000), evaluated), source="s", file="f", order=0)
    write_latest(latest, [shard], [0])
    select(shard, 0, latest, SelectionRecipe(), folder / "part.parquet", folder / "part.json")
    rows = [{"id": str(number), "document": None, "text": text} for number, text in enumerate(evaluated)]
    write_jsonl_gz(folder / "d" / "test.jsonl.gz", rows)
    write_index(
        folder / "index.parquet", [EvaluatedDataset(dataset="d", splits=("test",), pmids=False)], folder
    )


def find_copies(folder: Path, similar: bool) -> tuple[Used, Used]:
    """Make the fingerprints, and find copies with them."""
    prints = folder / f"similar-{similar}"
    made = run(
        "fingerprint", "--shards", folder / "shard.parquet", "--first", 0, "--latest",
        folder / "latest.parquet", "--folder", prints, "--output", prints / "block.json", "--recipe",
        json.dumps({"selection": {}, "similar": similar}),
    )  # fmt: skip
    found = run(
        "find_duplicates", "--fingerprints", prints, "--parts", 1, "--output",
        folder / f"copies-{similar}.parquet", "--recipe", f'{{"similarity": {0.8 if similar else "null"}}}',
    )  # fmt: skip
    return made, found


def find_contamination(folder: Path) -> Used:
    """Search the part for texts of datasets."""
    return run(
        "find_contamination", "--parts", folder / "part.parquet", "--index", folder / "index.parquet",
        "--folder", folder / "found", "--output", folder / "block.json",
    )  # fmt: skip


def check(folder: Path, count: int) -> None:
    """Check that the steps found all copies and texts, and nearly all similar texts."""
    exact = Counter(pq.read_table(folder / "copies-False.parquet")["reason"].to_pylist())
    similar = Counter(pq.read_table(folder / "copies-True.parquet")["reason"].to_pylist())
    assert exact == {"same_text": count // 20}, exact
    assert similar["same_text"] == count // 20 and similar["similar_text"] >= 0.9 * count // 20, similar
    assert len(read_json(folder / "found/part.json")["matches"]) == count // 100


def main() -> None:
    parser = argparse.ArgumentParser(description="Finding copies and texts of datasets.")
    parser.add_argument("--quick", action="store_true", help="fewer documents, within a minute")
    parser.add_argument("--documents", type=int, default=100_000, help="number, rounded to hundreds")
    arguments = parser.parse_args()
    count = 10_000 if arguments.quick else arguments.documents // 100 * 100
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a separate process: a program inherits the memory peak of the process that starts it.
        apart = multiprocessing.get_context("spawn").Process(target=prepare, args=(folder, count))
        apart.start()
        apart.join()
        used = dict(zip(("fingerprints, equal", "equal texts"), find_copies(folder, False), strict=True))
        used |= zip(("fingerprints, similar", "similar texts"), find_copies(folder, True), strict=True)
        used["contamination"] = find_contamination(folder)
        check(folder, count)
    print(f"{count} documents of 200 words; {EVALUATED} texts of a dataset")
    for step, one in used.items():
        print(f"{step}: {one.cpu:.1f} CPU-s, {one.peak:.0f} MB resident")
    for step, one in used.items():
        print(f"{step}: {count / one.cpu:.0f}")


if __name__ == "__main__":
    main()
