"""Speed of fine-tuning for NER: a plain loop that pads to a fixed length, against pubmill, interleaved.

    python benchmarks/finetuning.py [--quick]

Both train the same random BERT (4 layers, 256 wide) with batches of 32 on the same made-up sentences,
whose lengths are drawn from a seed like those of biomedical abstracts (mean 33 subwords). The plain
loop is transformers' BertForTokenClassification in float32 on sentences padded to 128 tokens. Tokens
are real ones, without padding. The last lines are ratios of the medians; times are processor seconds,
so that neighbours on the machine disturb little.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from transformers import BertConfig, BertForTokenClassification, BertModel

from pubmill.examples import TokensExample
from pubmill.finetuning.heads import TokenTagger
from pubmill.finetuning.inputs import Window, Windows
from pubmill.finetuning.training import Progress, Split, Trainer
from pubmill.precision import choose_precision
from pubmill.recipes import FinetuningRecipe

FIXED_LENGTH, BATCH, LABELS = 128, 32, ["O", "B", "I"]
CONFIG = BertConfig(
    vocab_size=8000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024
)
RECIPE = FinetuningRecipe(
    task="tokens",
    metric="entity_f1",
    head="linear",
    tagging="bio",
    labelled_subwords="first",
    learning_rate=1e-4,
    batch_size=BATCH,
    epochs=1,
)


def made_up(sentences: int) -> Split:
    """Sentences of one-subword words with log-normal lengths, always the same."""
    generator = np.random.default_rng(1)
    lengths = np.clip(generator.lognormal(3.35, 0.5, sentences).astype(int), 3, FIXED_LENGTH - 2)
    examples, windows = [], []
    for number, length in enumerate(lengths.tolist()):
        labels = generator.choice(LABELS, length, p=[0.9, 0.05, 0.05]).tolist()
        examples.append(TokensExample(id=str(number), document=None, words=["w"] * length, labels=labels))
        ids = [2, *generator.integers(5, 8000, length).tolist(), 3]
        windows.append(Window(number, ids, list(range(length)), list(range(1, length + 1))))
    return Split(examples=examples, encoded=Windows(windows, 0, 0, 0), sha256="")


def plain(split: Split) -> Callable[[], None]:
    """One epoch of the peer: fixed padding, float32, logits for every place."""
    model = BertForTokenClassification._from_config(CONFIG, attn_implementation="sdpa").train()
    model.classifier = torch.nn.Linear(CONFIG.hidden_size, len(LABELS))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def epoch() -> None:
        for start in range(0, len(split.windows), BATCH):
            windows = split.windows[start : start + BATCH]
            ids = torch.zeros(len(windows), FIXED_LENGTH, dtype=torch.int64)
            gold = torch.full_like(ids, -100)
            for row, window in enumerate(windows):
                ids[row, : len(window.ids)] = torch.tensor(window.ids)
                labels = split.examples[window.sentence].labels
                gold[row, 1 : 1 + len(labels)] = torch.tensor([LABELS.index(label) for label in labels])
            logits = model(input_ids=ids, attention_mask=(ids > 0).long()).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), gold.flatten())
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()

    return epoch


def trainer(precision: str) -> Trainer:
    """Ours, on this machine's processor."""
    encoder = BertModel._from_config(CONFIG, attn_implementation="eager")
    encoder.pooler = None
    tagger = TokenTagger(encoder, len(LABELS), 0.1)
    recipe = replace(RECIPE, precision=precision)
    return Trainer(recipe, tagger, pad=0, labels=LABELS, seed=1)


def ours(split: Split, precision: str) -> Callable[[], None]:
    """One epoch of pubmill's training."""
    made = trainer(precision)
    return lambda: void(made.epoch(split, 0, total=10**6, progress=Progress()))


def predicting(split: Split, precision: str) -> Callable[[], None]:
    """Prediction of all sentences by pubmill."""
    made = trainer(precision)
    return lambda: void(made.predict(split))


def void(_: object) -> None:
    """Drop a result."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Fine-tuning speed: plain padded loop against pubmill.")
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    quick = parser.parse_args().quick
    split = made_up(256 if quick else 1024)
    tokens = sum(split.lengths)
    auto = choose_precision("auto", torch.device("cpu"))
    runs = {
        "plain float32": plain(split),
        "ours float32": ours(split, "float32"),
        f"ours auto ({auto})": ours(split, "auto"),
        "prediction auto": predicting(split, "auto"),
    }
    speeds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(2 if quick else 5):
        for name, epoch in runs.items():
            started = time.process_time()
            epoch()
            speeds[name].append(tokens / (time.process_time() - started))
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    for name, speed in medians.items():
        print(f"{name}: {speed:,.0f} tokens per processor second ({torch.get_num_threads()} threads)")
    base = medians["plain float32"]
    print(f"fine-tuning, float32, against a plain padded loop: {medians['ours float32'] / base:.1f}")
    print(f"fine-tuning, {auto}, against a plain padded loop: {medians[f'ours auto ({auto})'] / base:.1f}")


if __name__ == "__main__":
    main()
