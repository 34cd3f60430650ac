"""Speed of pretraining: transformers' Trainer as run_mlm.py uses it against pubmill, in one run.

    .venv/bin/python benchmarks/pretraining.py [--quick] [--modernbert] [--gpu [--output FILE]]

On a processor: a BERT (or a ModernBERT) with 4 layers and hidden size 256, 32 sequences of 128 tokens per
step, in alternating rounds, in processor seconds of one thread. The Trainer computes in float32, its default;
pubmill in float32, and in the precision that `auto` selects. The last lines are ratios of median tokens per
second.

On a GPU (`--gpu`, the default if torch finds one), in less than 8 minutes, in bfloat16: BERT-base and -large,
ELECTRA-base and ALBERT-xxlarge at 128 and 512 tokens, BERT-base on gu2020's pairs of sentences, and the
Trainer's BERT-base. MFU is a model's rate of arithmetic over that of a large matrix product, both measured
here. At most 80 GiB of memory are used, with as many sequences `at once` as fit there; if they do not fit on
a smaller GPU, the number is halved until they do, and the table shows the number that did not fit. The last
lines are MFU and ratios. FILE gets the operations per second of each line as JSON; pubmill plan reads them
from benchmarks/pretraining.json.

All sequences are full, except pairs of sentences; padding is not counted. With --quick there is less to do,
the models of --gpu are tiny, and it runs on any machine. The Trainer needs accelerate,
which `make bench BENCH=pretraining` installs; without it, benchmarks/trainers_loop.py stands for it.
"""

import argparse
import gc
import statistics
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

import torch
import transformers

from benchmarks.pretraining_ways import (
    ACCELERATE,
    DEVICE,
    ON_GPU,
    Ours,
    Speed,
    TrainersWay,
    Way,
    fitting,
    make_packed,
)
from pubmill.hardware.torch_setup import measured_rate
from pubmill.pretraining.arithmetic import BASE, LARGE, XXLARGE
from pubmill.pretraining.methods import PLAIN, Methods
from pubmill.recipes import Architecture, Generator, Objective, Optimisation, PretrainingRecipe
from pubmill.storage.files import write_json

GIB = 2**30
MEMORY = 80 * GIB
MASKED_LM = Objective(masking="whole-word", pairs="none", sequences="full")
PAIRS = Objective(masking="whole-word", pairs="next-sentence")
ORDERED = Objective(masking="n-gram", pairs="sentence-order")
REPLACED = replace(MASKED_LM, generator=Generator(hidden_size=256, attention_heads=4, intermediate_size=1024))
MODERN = Architecture(
    family="modernbert", layers=22, hidden_size=768, attention_heads=12, intermediate_size=1152,
    max_positions=1024, dropout=0.1,
)  # fmt: skip
SMALL = Architecture(family="bert", layers=4, hidden_size=256, attention_heads=4, intermediate_size=1024)
SMALL_MODERN = replace(MODERN, layers=4, hidden_size=256, attention_heads=4, intermediate_size=384)


@dataclass(frozen=True)
class Case:
    """A line of the table; `at_once`: tokens that a GPU with 80 GiB processes at a time."""

    name: str
    architecture: Architecture
    objective: Objective
    length: int
    at_once: int
    methods: Methods | None = None
    """Those to use in place of the fastest ones."""

    def recipe(self) -> PretrainingRecipe:
        """Return the recipe; one of its steps has four times `at_once` tokens."""
        return make_recipe(self.architecture, self.objective, self.length, 4 * self.at_once // self.length)

    def tiny(self) -> "Case":
        """Return the same case with a tiny model."""
        small = replace(self.architecture, layers=2, hidden_size=64, attention_heads=4, intermediate_size=128)
        return replace(self, architecture=small, at_once=512)


CASES = [
    *(Case("BERT-base", BASE, MASKED_LM, length, 65_536) for length in (128, 512)),
    Case("BERT-large", LARGE, MASKED_LM, 512, 32_768),
    Case("ALBERT-xxlarge", replace(XXLARGE, dropout=0.0), ORDERED, 128, 16_384),
    Case("ELECTRA-base", replace(BASE, family="electra"), REPLACED, 128, 65_536),
    Case("BERT-base, pairs", BASE, PAIRS, 512, 65_536),
    Case("BERT-large", LARGE, MASKED_LM, 128, 32_768),
    Case("ELECTRA-base", replace(BASE, family="electra"), REPLACED, 512, 65_536),
    Case("ALBERT-xxlarge", replace(XXLARGE, dropout=0.0), ORDERED, 512, 16_384),
    Case("ModernBERT-base", MODERN, MASKED_LM, 1024, 65_536),
    Case("BERT-base, plain methods", BASE, MASKED_LM, 128, 65_536, PLAIN),
]
"""Those with a target come first, in case the time does not suffice for all."""
PEER = "Trainer's BERT-base"


def make_recipe(
    architecture: Architecture, objective: Objective, length: int, batch_size: int
) -> PretrainingRecipe:
    return PretrainingRecipe(
        architecture=architecture,
        objective=objective,
        optimisation=Optimisation(learning_rate=1e-4),
        sequence_length=length,
        batch_size=batch_size,
        steps=1_000_000,
    )


def on_processor(architecture: Architecture, folder: Path, rounds: int, seconds: float) -> list[str]:
    """Print the speeds; return the lines of the ratios."""
    packed, recipe = make_packed(5_000), make_recipe(architecture, MASKED_LM, 128, 32)
    ways: dict[str, Way] = {
        "Trainer": TrainersWay(recipe, packed, folder, recipe.batch_size),
        "float32": Ours(replace(recipe, precision="float32"), packed),
        "auto": Ours(recipe, packed),
    }
    for way in ways.values():
        way.run(0.0)
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            speeds[name].append(way.run(seconds).per_second)
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    for name, median in medians.items():
        spread = f"{min(speeds[name]):,.0f} to {max(speeds[name]):,.0f}"
        print(f"{name}: {median:,.0f} tokens/s ({spread})", flush=True)
    return [
        f"{name} over the Trainer: {medians[name] / medians['Trainer']:.2f}" for name in ("float32", "auto")
    ]


@dataclass(frozen=True)
class Row:
    """Measurements of a case."""

    name: str
    length: int
    speed: Speed
    sequences: int
    too_many: int | None
    peak: int | None
    methods: str

    def cells(self, rate: float, peer: float | None) -> list[str]:
        """Return the cells of the table; `peer`: the Trainer's tokens per second at this length, if known."""
        at_once = f"{self.sequences}" + (f" ({self.too_many} don't fit)" if self.too_many else "")
        return [
            self.name,
            str(self.length),
            f"{self.speed.per_second:,.0f}",
            f"{self.mfu(rate):.1%}",
            "–" if self.peak is None else f"{self.peak / GIB:.1f}",
            at_once,
            f"{self.speed.per_second / peer:.2f}" if peer else "–",
            self.methods,
        ]

    def as_json(self) -> dict[str, str | int | float]:
        """Return the figures that pubmill plan needs, and the methods that ran."""
        return {
            "name": self.name,
            "length": self.length,
            "operations_per_second": self.speed.flops / self.speed.seconds,
            "methods": self.methods,
        }

    def mfu(self, rate: float) -> float:
        """Return the share of the device's rate that was reached."""
        return self.speed.flops / self.speed.seconds / rate


PEERS_RATIO = "over the Trainer's BERT-base"
HEADER = ["model", "length", "tokens/s", "MFU", "peak GiB", "at once", PEERS_RATIO, "methods"]


def measure(name: str, case: Case, make: Any, seconds: float) -> Row:
    """Measure one program with as many sequences at once as fit.

    Raises a RuntimeError if pubmill's planned methods do not work here.
    """
    planned = case.at_once // case.length
    if ON_GPU:
        torch.cuda.reset_peak_memory_stats()
    torch.compiler.reset()  # PyTorch limits how often a function is compiled for other sizes.
    way, sequences = fitting(make, planned)
    if isinstance(way, Ours) and way.work.computation.refused:
        raise RuntimeError(way.work.computation.refused)
    speed = way.run(seconds)
    if isinstance(way, Ours):  # It halves the number itself.
        sequences = way.work.batches.at_once
    peak = torch.cuda.max_memory_allocated() if ON_GPU else None
    too_many = 2 * sequences if sequences < planned else None
    return Row(name, case.length, speed, sequences, too_many, peak, way.methods)


def measured_rows(cases: list[Case], folder: Path, seconds: float) -> Iterator[Row | str]:
    """Yield measurements of the Trainer's BERT-base at each length, and of every case; for one that failed,
    the reason."""
    packed = make_packed(20_000 if ON_GPU else 1_000)
    programs: list[tuple[str, Case, Any]] = [
        *((PEER, case, partial(TrainersWay, case.recipe(), packed, folder)) for case in cases[:2]),
        *((case.name, case, partial(Ours, case.recipe(), packed, methods=case.methods)) for case in cases),
    ]
    for name, case, make in programs:
        found: Row | str
        try:
            found = measure(name, case, make, seconds)
        except Exception as error:
            traceback.print_exc()
            found = f"{name} at {case.length} failed: {type(error).__name__}: {error}".partition("\n")[0]
        # Outside of the handler, as the error's traceback keeps the tensors of the program alive.
        gc.collect()
        torch.cuda.empty_cache()
        yield found


def table(cases: list[Case], folder: Path, seconds: float, output: Path | None = None) -> list[str]:
    """Print the table, and write it as JSON, line by line; return the lines of MFU, ratios and failures."""
    rate = measured_rate(DEVICE, "bfloat16")
    if ON_GPU:
        total = torch.cuda.get_device_properties(DEVICE).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, MEMORY / total))
        print(f"{torch.cuda.get_device_name()}, {total / GIB:.0f} GiB, PyTorch {torch.__version__}")
    print(f"matrix products in bfloat16: {rate / 1e12:.1f} TFLOP/s\n\n| {' | '.join(HEADER)} |")
    print("|" + "---|" * len(HEADER), flush=True)
    peers: dict[int, float] = {}
    lines, rows = list[str](), []
    for row in measured_rows(cases, folder, seconds):
        if isinstance(row, str):
            lines.append(row)
            continue
        if row.name == PEER:
            peers[row.length] = row.speed.per_second
        else:
            rows.append(row.as_json())
        peer = peers.get(row.length)
        print(f"| {' | '.join(row.cells(rate, peer))} |", flush=True)
        lines.append(f"MFU of {row.name} at {row.length}: {row.mfu(rate):.3f}")
        if row.name == "BERT-base" and peer:
            ratio = row.speed.per_second / peer
            lines.append(f"BERT-base at {row.length} over the Trainer: {ratio:.2f}")
        if output:  # after each row, as the time of a call may end before the table does
            write_json(output, figures(rate, rows))
    return lines


def figures(rate: float, rows: list[dict[str, str | int | float]]) -> dict[str, Any]:
    """Return the JSON of the table so far; `rate`: the device's operations per second."""
    device = torch.cuda.get_device_name() if ON_GPU else "processor"
    return {"device": device, "accelerate": ACCELERATE, "products_per_second": rate, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    parser.add_argument("--modernbert", action="store_true", help="on a processor: a ModernBERT, not a BERT")
    parser.add_argument("--gpu", action="store_true", default=ON_GPU, help="measure on a GPU")
    parser.add_argument("--output", type=Path, help="JSON file for a GPU's figures")
    arguments = parser.parse_args()
    if arguments.gpu and not (ON_GPU or arguments.quick):
        parser.error("--gpu needs a GPU that torch finds; without --quick, a processor would take hours")
    if not ACCELERATE:
        print("accelerate is missing: the Trainer's own loop stands for it (benchmarks/trainers_loop.py)")
    torch.set_num_threads(1)  # of several, those that wait for each other would use processor time too
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with TemporaryDirectory() as name:
        if arguments.gpu:
            cases = [case.tiny() for case in CASES] if arguments.quick else CASES
            lines = table(cases, Path(name), 0.3 if arguments.quick else 12.0, arguments.output)
        else:
            model = SMALL_MODERN if arguments.modernbert else SMALL
            lines = on_processor(model, Path(name), *((1, 1.0) if arguments.quick else (7, 6.0)))
    print("\n" + "\n".join(lines))
    sys.exit(any(" failed: " in line for line in lines))


if __name__ == "__main__":
    main()
