"""A pretraining step: a plain loop over transformers' model against pubmill, interleaved on the same data.

    python benchmarks/pretraining.py [--quick]

The plain loop is what transformers' Trainer does at each step without its own overhead: all sequences padded
to the full length, logits at every position, float32. The last lines are `name: ratio`, tokens per second
over those of the plain loop: in float32, and in the precision that `auto` chooses here. No padding counted.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

from pubmill.pretraining.engine import Pretraining, collate
from pubmill.pretraining.instances import Stream, generator
from pubmill.pretraining.masking import Vocabulary, mask
from pubmill.recipes import Architecture, Objective, Optimisation, PretrainingRecipe

SIZE = 8192
SHAPE = {"layers": 4, "hidden_size": 256, "attention_heads": 4, "intermediate_size": 1024}


def make_packed() -> Any:
    """Documents of 5 to 13 sentences of about 30 tokens, from a seed."""
    random = np.random.Generator(np.random.PCG64(1))
    counts = random.integers(5, 14, size=2000)
    lengths = np.clip(random.lognormal(3.3, 0.5, size=counts.sum()), 3, 120).astype(np.int64)
    sentences, documents = (np.concatenate([[0], np.cumsum(part)]) for part in (lengths, counts))
    special = {"pad": 0, "unk": 1, "cls": 2, "sep": 3, "mask": 4}
    ids = random.integers(5, SIZE, size=sentences[-1])
    return SimpleNamespace(
        ids=ids, sentences=sentences, documents=documents, special=special, vocab_size=SIZE
    )


def plain_step(work: Pretraining, step: int) -> float:
    """One update as a loop over transformers' own model does it; return the tokens seen."""
    batch = work.instances.batch(step)
    random = generator(work.recipe.seed, Stream.MASKS, step)
    hidden = mask(batch.ids, batch.inner, batch.lengths, work.vocabulary, work.recipe.objective, random)
    part = collate(batch, hidden, np.argsort(-batch.lengths), work.pad, work.device)
    room = (0, work.recipe.sequence_length - part["ids"].shape[1])
    labels = torch.full(part["ids"].shape, -100).reshape(-1)
    labels[part["rows"][len(batch.lengths) :]] = part["labels"]
    ids, segments = (torch.nn.functional.pad(part[name], room) for name in ("ids", "segments"))
    labels = torch.nn.functional.pad(labels.view(part["ids"].shape), room, value=-100)
    attention = (ids != work.pad).long()
    output = work.model(ids, attention, segments, labels=labels, next_sentence_label=part["next_sentence"])
    output.loss.backward()
    torch.nn.utils.clip_grad_norm_(work.model.parameters(), 1.0)
    work.optimizer.step()
    work.optimizer.zero_grad()
    return float(len(batch.ids))


def main() -> None:
    """Do steps turn about."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="4 rounds instead of 20")
    rounds = 4 if parser.parse_args().quick else 20
    packed = make_packed()
    vocabulary = Vocabulary(np.arange(SIZE) % 4 == 0, np.arange(5, SIZE), 4)
    common = {
        "architecture": Architecture(family="bert", dropout=0.1, **SHAPE),  # type: ignore[arg-type]
        "objective": Objective(masking="whole-word"),
        "optimisation": Optimisation(learning_rate=1e-4),
        "sequence_length": 128,
        "batch_size": 32,
        "steps": 1000,
    }
    names = {"plain": "float32", "float32": "float32", "auto": "auto"}
    works = {
        name: Pretraining(PretrainingRecipe(**common, precision=precision), packed, vocabulary)  # type: ignore[arg-type]
        for name, precision in names.items()
    }
    speeds: dict[str, list[float]] = {name: [] for name in works}
    for step in range(rounds + 1):
        for name, work in works.items():
            began = time.perf_counter()
            tokens = plain_step(work, step) if name == "plain" else work.update(step)["tokens"]
            speeds[name].append(tokens / (time.perf_counter() - began))
    medians = {name: statistics.median(values[1:]) for name, values in speeds.items()}
    for name, value in medians.items():
        print(f"{name}: {value:,.0f} tokens/s")
    print(f"pretraining_step_float32: {medians['float32'] / medians['plain']:.2f}")
    print(f"pretraining_step_auto: {medians['auto'] / medians['plain']:.2f}")


if __name__ == "__main__":
    main()
