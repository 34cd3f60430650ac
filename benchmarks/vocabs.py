"""CPU time of learning a vocabulary: the trainer of `tokenizers` and pubmill, one after the other.

    .venv/bin/python benchmarks/vocabs.py [--quick]

The text is made up from a seed: words of syllables with Zipfian frequencies. The peer gets it in memory,
pubmill as eight corpus parts on disk, which it counts one by one, merges and learns from. `counting`: wall
time of counting the parts in one process, over that in two. Last lines: `name: ratio`.
"""

import argparse
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow as pa
import pyarrow.parquet as pq
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.trainers import WordPieceTrainer

from pubmill.recipes import VocabRecipe
from pubmill.vocabs.training import learn
from pubmill.vocabs.word_counts import merge_counts, write_counts
from pubmill.vocabs.wordpiece import SPECIAL

PARTS = 8


def make_texts(documents: int, distinct: int, seed: int = 1) -> list[str]:
    """Make documents of 200 words, with a full stop after about every twentieth word."""
    source = random.Random(seed)
    syllables = [
        consonant + vowel for consonant in "bcdfghklmnprstvxz" for vowel in ("a", "e", "io", "yl", "o")
    ]
    words = ["".join(source.choices(syllables, k=source.randint(1, 6))) for _ in range(distinct)]
    weights = list(accumulate(1 / (rank + 1) for rank in range(distinct)))
    texts = []
    for _ in range(documents):
        chosen = source.choices(words, cum_weights=weights, k=200)
        texts.append(" ".join(f"{word}." if source.random() < 0.05 else word for word in chosen))
    return texts


def write_parts(folder: Path, texts: list[str]) -> list[Path]:
    """Write the texts as the parts of a corpus."""
    parts = [folder / f"part-{number:04d}.parquet" for number in range(PARTS)]
    for number, part in enumerate(parts):
        columns = {"id": [str(n) for n in range(number, len(texts), PARTS)], "text": texts[number::PARTS]}
        pq.write_table(pa.table(columns), part, compression="zstd")
    return parts


def peer(texts: list[str], size: int) -> None:
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    trainer = WordPieceTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)


def count(part: Path) -> Path:
    output = part.parent / "words" / part.name
    write_counts(part, "bert-uncased", output)
    return output


def ours(parts: list[Path], size: int) -> None:
    recipe = VocabRecipe(kind="wordpiece", size=size, lowercase=True)
    counts = [count(part) for part in parts]
    words, _ = merge_counts(counts, "bert-uncased", recipe.most_words, parts[0].parent / "vocab")
    learn(recipe, words)


def cpu_seconds(work: Callable[[], None]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def counting_seconds(parts: list[Path], processes: int) -> float:
    """Return the wall time of counting all parts, without the start of the processes."""
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(count, parts[:processes]))
        begin = time.perf_counter()
        list(pool.map(count, parts))
        return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description="Vocabulary training: tokenizers against pubmill.")
    parser.add_argument("--quick", action="store_true", help="little text, under a minute")
    quick = parser.parse_args().quick
    texts = make_texts(10_000 if quick else 60_000, 50_000 if quick else 300_000)
    size = 8_000 if quick else 30_000
    megabytes = sum(map(len, texts)) / 1e6
    times: dict[str, list[float]] = {"tokenizers": [], "pubmill": [], "one": [], "two": []}
    with tempfile.TemporaryDirectory() as folder:
        parts = write_parts(Path(folder), texts)
        for _ in range(3):
            times["tokenizers"].append(cpu_seconds(lambda: peer(texts, size)))
            times["pubmill"].append(cpu_seconds(lambda: ours(parts, size)))
            times["one"].append(counting_seconds(parts, 1))
            times["two"].append(counting_seconds(parts, 2))
    median = {name: statistics.median(values) for name, values in times.items()}
    for name in ("tokenizers", "pubmill"):
        print(f"{name}: {median[name]:.2f} CPU-s for {megabytes:.0f} MB, {size} pieces")
    print(f"vocabs: {median['tokenizers'] / median['pubmill']:.2f}")
    print(f"counting: {median['one'] / median['two']:.2f}")


if __name__ == "__main__":
    main()
