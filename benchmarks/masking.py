"""Whole-word masking: transformers' collator against pubmill, interleaved on the same made-up text.

    .venv/bin/python benchmarks/masking.py [--quick]

Both mask the same 64 sequences of 512 tokens, a quarter of which continue words. The collator gets the same
input as in run_mlm.py: lists, with the position of each token in the text. pubmill's other kinds of masking
are shown as well. Times are processor seconds, so that other work on the machine has little effect. The last
line is `whole_word_masking: ratio`, median tokens per second of pubmill over those of the peer.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
from transformers import BertTokenizer, DataCollatorForLanguageModeling

from pubmill.pretraining.instances import PackedBatch, Stream
from pubmill.pretraining.masking import Draws, Vocabulary, mask, read_vocabulary
from pubmill.pretraining.packed_tokens import SPECIAL
from pubmill.recipes import Objective
from pubmill.vocabs.wordpiece import make_tokenizer, save

SEQUENCES, LENGTH, SIZE = 64, 512, 8192
PIECES = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(("##" if number % 4 == 0 else "") + f"w{number}" for number in range(5, SIZE)),
]
RATE = 0.15


def make_peer(folder: Path, ids: Any, vocabulary: Vocabulary) -> Callable[[], object]:
    """Return a function that masks the sequences with transformers' collator."""
    collate = DataCollatorForLanguageModeling(
        BertTokenizer.from_pretrained(folder), whole_word_mask=True, return_tensors="np"
    )
    # positions of the pieces in a text: the collator treats adjacent pieces as one word
    begin = np.cumsum(np.where(vocabulary.continues[ids], 1, 2), axis=1)
    offsets = np.stack([begin, begin + 1], axis=2)
    offsets[:, [0, -1]] = 0
    rows = list(zip(ids.tolist(), offsets.tolist(), strict=True))

    def work() -> object:
        # the collator modifies the examples
        return collate([{"input_ids": row, "offset_mapping": places} for row, places in rows])

    return work


def make_ours(ids: Any, vocabulary: Vocabulary, objective: Objective) -> Callable[[], object]:
    flat, lengths = ids.reshape(-1), np.full(SEQUENCES, LENGTH)
    inner, steps, sequences = flat >= len(SPECIAL), count(), np.arange(SEQUENCES)
    batch = PackedBatch(flat, np.zeros_like(flat), inner, lengths, np.zeros_like(lengths), 0)

    def work() -> object:
        draws = Draws(sequences, 0, Stream.MASKS, (next(steps),))
        return mask(batch, vocabulary, objective, RATE, draws)

    return work


def main() -> None:
    """Mask the same sequences with all programs, in alternating rounds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="5 rounds instead of 50")
    rounds = 5 if parser.parse_args().quick else 50
    random = np.random.Generator(np.random.PCG64(1))
    ids = random.integers(len(SPECIAL), SIZE, size=(SEQUENCES, LENGTH))
    ids[:, 0], ids[:, -1] = PIECES.index("[CLS]"), PIECES.index("[SEP]")
    with TemporaryDirectory() as name:
        save(make_tokenizer(PIECES, True), True, Path(name))
        vocabulary = read_vocabulary(Path(name), dict(zip(SPECIAL, range(len(SPECIAL)), strict=True)))
        works = {"transformers": make_peer(Path(name), ids, vocabulary)}
    for kind in ("whole-word", "subword", "n-gram", "independent"):
        works[kind] = make_ours(ids, vocabulary, Objective(masking=kind))
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            began = time.process_time()
            work()
            seconds[name].append(time.process_time() - began)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    for name, median in medians.items():
        print(f"{name}: {ids.size / median:,.0f} tokens/s")
    print(f"whole_word_masking: {medians['transformers'] / medians['whole-word']:.2f}")


if __name__ == "__main__":
    main()
