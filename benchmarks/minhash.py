"""Similar texts by fingerprints and duplicates of pubmill, and by datatrove's MinHash, on the same documents.

    python3 -m venv PEER && PEER/bin/pip install "datatrove[processing]" spacy
    .venv/bin/python benchmarks/minhash.py --peer PEER/bin/python [--documents 30000] [--turns 2]

Documents are those of selection.py: of twenty, one has the words of another and one differs from another in
its last words. Both sides have 128 hashes of five words each and 16 bands of eight. They run in turns, each
step in a process of its own on one core. Datatrove's time includes reading its JSON lines and writing the
documents that it keeps; pubmill's includes reading its shard, not the selection of documents. Lines: planted
documents that were found, others that were removed, documents per CPU-s, and the largest peak of a process.
"""

import argparse
import json
import multiprocessing
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pyarrow.parquet as pq

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.baseline import ROOT, Used, run_command
from benchmarks.selection import find_copies, prepare
from pubmill.storage.parquet import open_parquet

STEPS = ("signatures", "buckets", "clusters", "filter")


def write_text(folder: Path) -> None:
    """Write the documents of the part for datatrove."""
    (folder / "text").mkdir()
    with (
        (folder / "text/documents.jsonl").open("w", encoding="utf-8") as file,
        open_parquet(folder / "part.parquet") as part,
    ):
        for batch in part.iter_batches(columns=["id", "text"]):
            file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())


def make(folder: Path, documents: int) -> None:
    prepare(folder, documents)
    write_text(folder)


def run_pubmill(folder: Path) -> tuple[list[Used], set[int]]:
    """Return what the steps used, and the numbers of the documents that they remove."""
    shutil.rmtree(folder / "similar-True", ignore_errors=True)
    used = list(find_copies(folder, similar=True))
    return used, set(pq.read_table(folder / "copies-True.parquet")["position"].to_pylist())


def run_datatrove(folder: Path, python: Path) -> tuple[list[Used], set[int]]:
    """Return the same of datatrove's steps."""
    for name in ("signatures", "buckets", "clusters", "removed", "kept", *(f"logs-{step}" for step in STEPS)):
        shutil.rmtree(folder / name, ignore_errors=True)
    used = [run_command(python, ROOT / "benchmarks/minhash_peer.py", step, folder) for step in STEPS]
    lines = (folder / "removed/00000.jsonl").read_text(encoding="utf-8").splitlines()
    return used, {int(json.loads(line)["id"].removeprefix("text:")) for line in lines}


def show(side: str, documents: int, used: list[list[Used]], removed: set[int]) -> None:
    """Print a side's figures, with the median seconds of its turns.

    A planted pair is found if either of its documents is removed.
    """
    copies, near = (
        sum(bool({n, n - n % 20} & removed) for n in range(last, documents, 20)) for last in (19, 18)
    )
    planted = {n for n in range(documents) if n % 20 in (0, 18, 19)}
    cpu, each = median(sum(one.cpu for one in turn) for turn in used), documents // 20
    others = len(removed - planted)
    print(f"{side}: {copies} of {each} equal and {near} of {each} similar pairs, {others} others")
    print(f"{side}, documents per CPU-s: {documents / cpu:.0f}")
    print(f"{side}, peak MB: {max(one.peak for turn in used for one in turn):.0f}")
    print(f"{side}, CPU-s of its steps: {', '.join(f'{one.cpu:.1f}' for one in used[-1])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", type=Path, required=True, help="Python with datatrove and spaCy")
    parser.add_argument("--documents", type=int, default=30_000, help="number, rounded to hundreds")
    parser.add_argument("--turns", type=int, default=2)
    chosen = parser.parse_args()
    documents = chosen.documents // 100 * 100
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        # In a separate process: a program inherits the memory peak of the process that starts it.
        apart = multiprocessing.get_context("spawn").Process(target=make, args=(folder, documents))
        apart.start()
        apart.join()
        sides: dict[str, Callable[[], tuple[list[Used], set[int]]]] = {
            "pubmill": lambda: run_pubmill(folder),
            "datatrove": lambda: run_datatrove(folder, chosen.peer),
        }
        used: dict[str, list[list[Used]]] = {side: [] for side in sides}
        for _ in range(chosen.turns):
            removed = {side: add_turn(used[side], one) for side, one in sides.items()}
    print(f"{documents} documents of 200 words")
    for side in sides:
        show(side, documents, used[side], removed[side])


def add_turn(used: list[list[Used]], one: Callable[[], tuple[list[Used], set[int]]]) -> set[int]:
    turn, removed = one()
    used.append(turn)
    return removed


if __name__ == "__main__":
    main()
