"""Packing: a loop of tokenizer calls and pubmill on the same documents, one after the other.

    python benchmarks/packing.py [--quick] [--punkt punkt_tab.zip]

Without --punkt, sentence splitting uses empty tables. Three ratios: `encoding` (ids from sentences),
`packing` (documents to arrays, Punkt in both) and, without --quick, `processes` (two processes against
one). The text is that of benchmarks/vocabs.py. Last lines: `name: ratio`.
"""

import argparse
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.vocabs import make_texts
from pubmill.pretraining.packing import PackingRecipe, WordEncoder, load_tokenizer, pack, pack_documents
from pubmill.sentences import FOLDER, TABLES, SentenceSplitter
from pubmill.vocabs.wordpiece import WordPieceRecipe, train


def interleaved(rounds: int, works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median wall-clock seconds of each work."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            begin = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Packing: tokenizer calls against pubmill.")
    parser.add_argument("--quick", action="store_true", help="little text, under a minute, one process")
    parser.add_argument("--punkt", type=Path, help="NLTK's punkt_tab.zip")
    arguments = parser.parse_args()
    texts = make_texts(5_000 if arguments.quick else 30_000, 50_000)
    with tempfile.TemporaryDirectory() as name:
        punkt = arguments.punkt or empty_punkt(Path(name) / "punkt_tab.zip")
        measure(Path(name), texts, punkt, parallel=not arguments.quick)


def empty_punkt(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for table in TABLES:
            archive.writestr(f"{FOLDER}/{table}", "")
    return path


def measure(folder: Path, texts: list[str], punkt: Path, parallel: bool) -> None:
    from transformers import AutoTokenizer  # here, so that the processes of packing start without it

    vocab, parts = folder / "vocab", [folder / f"part-{number}.parquet" for number in range(4)]
    for number, part in enumerate(parts):
        pq.write_table(pa.table({"text": texts[number::4]}), part)
    train(WordPieceRecipe(kind="wordpiece", size=8_000, lowercase=True), parts, vocab)
    calls, splitter = AutoTokenizer.from_pretrained(vocab), SentenceSplitter(punkt)
    sentences = [splitter.split(text) for text in texts]

    def peer_encoding() -> None:
        for document in sentences:
            ids = calls(document, add_special_tokens=False)["input_ids"]
            [np.array(sentence, np.uint16) for sentence in ids]

    def our_encoding() -> None:
        encoder = WordEncoder(load_tokenizer(vocab))
        for document in sentences:
            [encoder.encode(sentence) for sentence in document]

    def peer_packing() -> None:
        for text in texts:
            ids = calls(splitter.split(text), add_special_tokens=False)["input_ids"]
            [np.array(sentence, np.uint16) for sentence in ids]

    def our_packing() -> None:
        pack_documents(texts, splitter, WordEncoder(load_tokenizer(vocab)))

    def processes(count: int) -> Callable[[], object]:
        return lambda: pack(PackingRecipe(), parts, vocab, punkt, folder / "tokens", count)

    works: dict[str, Callable[[], object]] = {
        "peer encoding": peer_encoding,
        "our encoding": our_encoding,
        "peer packing": peer_packing,
        "our packing": our_packing,
    }
    if parallel:
        works |= {"one process": processes(1), "two processes": processes(2)}
    seconds = interleaved(3, works)
    megabytes = sum(map(len, texts)) / 1e6
    for name, value in seconds.items():
        print(f"{name}: {megabytes / value:.1f} MB/s")
    print(f"encoding: {seconds['peer encoding'] / seconds['our encoding']:.2f}")
    print(f"packing: {seconds['peer packing'] / seconds['our packing']:.2f}")
    if parallel:
        print(f"processes: {seconds['one process'] / seconds['two processes']:.2f}")


if __name__ == "__main__":
    main()
