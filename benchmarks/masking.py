"""Whole-word masking: transformers' collator against pubmill, interleaved on the same made-up text.

    python benchmarks/masking.py [--quick]

The last line is `whole_word_masking: ratio`, tokens per second of pubmill over those of the peer.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from transformers import BertTokenizerFast, DataCollatorForLanguageModeling

from pubmill.pretraining.masking import mask, read_vocabulary
from pubmill.recipes import Objective

SEQUENCES, LENGTH, SIZE = 64, 512, 8192
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def main() -> None:
    """Mask the same sequences by both, turn about."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 15")
    rounds = 3 if parser.parse_args().quick else 15
    random = np.random.Generator(np.random.PCG64(1))
    pieces = [("##" if number % 4 == 0 else "") + f"w{number}" for number in range(5, SIZE)]
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "vocab.txt").write_text("\n".join(SPECIAL + pieces) + "\n")
        vocabulary = read_vocabulary(Path(name))
        tokenizer = BertTokenizerFast.from_pretrained(name)
    ids = random.integers(5, SIZE, size=(SEQUENCES, LENGTH))
    ids[:, 0], ids[:, -1] = 2, 3
    # where the pieces would be in a text: the collator takes those that touch for one word
    begin = np.cumsum(np.where(vocabulary.continues[ids], 1, 2), axis=1)
    offsets = np.stack([begin, begin + 1], axis=2)
    offsets[:, [0, -1]] = 0
    collate = DataCollatorForLanguageModeling(tokenizer, whole_word_mask=True, return_tensors="np")
    peer: list[float] = []
    ours: list[float] = []
    for _ in range(rounds):
        examples = [
            {"input_ids": row, "offset_mapping": places}
            for row, places in zip(ids.tolist(), offsets.tolist(), strict=True)
        ]
        began = time.perf_counter()
        collate(examples)
        peer.append(time.perf_counter() - began)
        began = time.perf_counter()
        flat = ids.reshape(-1)
        lengths = np.full(SEQUENCES, LENGTH)
        mask(flat, flat > 4, lengths, vocabulary, Objective(masking="whole-word"), random)
        ours.append(time.perf_counter() - began)
    for label, seconds in (("transformers", peer), ("pubmill", ours)):
        print(f"{label}: {ids.size / statistics.median(seconds):,.0f} tokens/s")
    print(f"whole_word_masking: {statistics.median(peer) / statistics.median(ours):.2f}")


if __name__ == "__main__":
    main()
