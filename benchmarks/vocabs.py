"""Learning a vocabulary: the trainer of `tokenizers` and pubmill, one after the other, CPU time.

    python benchmarks/vocabs.py [--quick]

The text is made up from a seed: words of syllables with Zipf's frequencies. Last lines: `name: ratio`.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.trainers import WordPieceTrainer

from pubmill.vocabs.merges import learn_pieces
from pubmill.vocabs.wordpiece import SPECIAL, WordCounter, WordPieceRecipe


def make_texts(documents: int, distinct: int, seed: int = 1) -> list[str]:
    """Documents of 200 words, a stop after about every twentieth."""
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


def peer(texts: list[str], size: int) -> None:
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    trainer = WordPieceTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)


def ours(texts: list[str], size: int) -> None:
    counter = WordCounter(WordPieceRecipe(kind="wordpiece", size=size, lowercase=True))
    for text in texts:
        counter.add(text)
    counter.finish()
    learn_pieces(counter.words, size, SPECIAL)


def cpu_seconds(work: Callable[[list[str], int], None], texts: list[str], size: int) -> float:
    begin = time.process_time()
    work(texts, size)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description="Vocabulary training: tokenizers against pubmill.")
    parser.add_argument("--quick", action="store_true", help="little text, under a minute")
    quick = parser.parse_args().quick
    texts = make_texts(10_000 if quick else 60_000, 50_000 if quick else 300_000)
    size = 8_000 if quick else 30_000
    megabytes = sum(map(len, texts)) / 1e6
    times: dict[str, list[float]] = {"tokenizers": [], "pubmill": []}
    for _ in range(3):
        times["tokenizers"].append(cpu_seconds(peer, texts, size))
        times["pubmill"].append(cpu_seconds(ours, texts, size))
    median = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in median.items():
        print(f"{name}: {seconds:.2f} CPU-s for {megabytes:.0f} MB, {size} pieces")
    print(f"vocabs: {median['tokenizers'] / median['pubmill']:.2f}")


if __name__ == "__main__":
    main()
