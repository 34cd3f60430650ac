"""Cross entropy with its gradient: torch's function against pubmill's, interleaved on the same logits.

    .venv/bin/python benchmarks/cross_entropy.py [--quick]

The logits are those of 32 sequences of 128 tokens with 15 % masked, over a vocabulary of 30,522. Times are
processor seconds of one thread, so that other work on the machine has little effect. Prints for each type
`TYPE: ratio`, median seconds of torch over those of pubmill.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

import torch
import torch.nn.functional as F
from torch import Tensor

from pubmill.pretraining.cross_entropy import cross_entropy

POSITIONS, SIZE = 614, 30_522
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def by_torch(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the summed loss and the number of labels that have the largest logit."""
    return F.cross_entropy(logits.float(), labels, reduction="sum"), (logits.argmax(-1) == labels).sum()


def seconds(way: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]], logits: Tensor, labels: Tensor) -> float:
    """Return the processor seconds of one loss with its gradient."""
    leaf = logits.detach().requires_grad_()
    start = time.process_time()
    loss, _ = way(leaf, labels)
    loss.backward()
    return time.process_time() - start


def main() -> None:
    """Time both in turns and print the ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="3 turns instead of 25")
    turns = 3 if parser.parse_args().quick else 25
    torch.set_num_threads(1)
    random = torch.Generator().manual_seed(1)
    labels = torch.randint(0, SIZE, (POSITIONS,), generator=random)
    for name, dtype in TYPES.items():
        logits = (torch.randn(POSITIONS, SIZE, generator=random) * 3).to(dtype)
        times: dict[str, list[float]] = {"torch": [], "pubmill": []}
        for turn in range(turns + 1):
            for label, way in (("torch", by_torch), ("pubmill", cross_entropy)):
                spent = seconds(way, logits, labels)
                times[label] += [spent] if turn else []  # the first turn warms up
        peer, ours = (statistics.median(times[label]) for label in ("torch", "pubmill"))
        print(f"milliseconds, {name}: torch {peer * 1000:.1f}, pubmill {ours * 1000:.1f}")
        print(f"{name}: {peer / ours:.2f}")


if __name__ == "__main__":
    main()
