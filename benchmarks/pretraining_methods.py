"""BERT-base at 128 tokens by every method of pretraining, and by transformers' Trainer with and without
torch.compile, in one run; or where its time goes.

    python benchmarks/pretraining_methods.py [--quick] [--profile] [--output FILE]

Each row is the median of three windows, with the lowest and the highest; `start` are the seconds to the end
of the first steps, in which everything is compiled; clock and power are medians over the windows. A method
that does not work is an error, not a row. `--profile`: seconds of a step by class of kernel, from
torch.profiler, and the kernels that take longest. With --quick, the model is tiny; on a processor, only the
plain method is compared.
"""

import argparse
import gc
import statistics
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

import torch
import transformers

from benchmarks.clocks import watched_clocks
from benchmarks.kernel_classes import CLASSES, IDLE, class_of, kernels_of, longest, sums
from benchmarks.pretraining import CASES, GIB, Case
from benchmarks.pretraining_ways import DEVICE, ON_GPU, Ours, TrainersWay, Way, fitting, make_packed
from pubmill.hardware.torch_setup import measured_rate
from pubmill.pretraining.methods import COMPILED, PLAIN, UNPADDED
from pubmill.storage.files import write_json

METHODS = (COMPILED, UNPADDED, PLAIN) if ON_GPU else (PLAIN,)
WINDOWS, PROFILED = 3, 5
LISTED, WIDTH = 30, 100
"""Kernels of the second table of a profile, and characters of their names."""
HEADER = ["", "tokens/s", "lowest", "highest", "MFU", "start s", "peak GiB", "MHz", "W"]


@dataclass(frozen=True, kw_only=True)
class MethodRow:
    """Measurements of one way to pretrain; speeds are tokens per second of each window."""

    methods: str
    speeds: list[float]
    mfu: float
    start: float
    peak: float | None
    clock: float | None
    power: float | None

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        speeds = [f"{found(self.speeds):,.0f}" for found in (statistics.median, min, max)]
        rest = [f"{self.start:.1f}", *map(shown, (self.peak, self.clock, self.power))]
        return [self.methods, *speeds, f"{self.mfu:.1%}", *rest]


def shown(number: float | None) -> str:
    return "–" if number is None else f"{number:,.1f}"


def measure(make: Any, case: Case, seconds: float, rate: float) -> MethodRow:
    """Measure a way; raises a RuntimeError if its methods do not work here."""
    if ON_GPU:
        torch.cuda.reset_peak_memory_stats()
    torch.compiler.reset()
    begun = time.perf_counter()
    way, _ = fitting(make, case.at_once // case.length)
    start = time.perf_counter() - begun
    if isinstance(way, Ours) and way.work.computation.refused:
        raise RuntimeError(way.work.computation.refused)
    with watched_clocks() as clocks:
        windows = [way.run(seconds) for _ in range(WINDOWS)]
    operations, took = (sum(getattr(one, name) for one in windows) for name in ("flops", "seconds"))
    return MethodRow(
        methods=way.methods,
        speeds=[window.per_second for window in windows],
        mfu=operations / took / rate,
        start=start,
        peak=torch.cuda.max_memory_allocated() / GIB if ON_GPU else None,
        clock=clocks.clock,
        power=clocks.power,
    )


def rows(case: Case, folder: Path, seconds: float, rate: float) -> Iterator[MethodRow | str]:
    """Yield the measurements of every way; for one that failed, the reason."""
    packed, recipe = make_packed(20_000 if ON_GPU else 1_000), case.recipe()
    ways: list[Any] = [partial(Ours, recipe, packed, methods=methods) for methods in METHODS]
    ways += [partial(trainer, case, packed, folder, compiled) for compiled in (False, True)]
    for make in ways:
        found: MethodRow | str
        try:
            found = measure(make, case, seconds, rate)
        except Exception as error:
            traceback.print_exc()
            found = f"{make.keywords or make.args[-1:]} failed: {type(error).__name__}: {error}".partition(
                "\n"
            )[0]
        gc.collect()
        torch.cuda.empty_cache()
        yield found


def trainer(case: Case, packed: Any, folder: Path, compiled: bool, batch_size: int) -> Way:
    return TrainersWay(case.recipe(), packed, folder, batch_size, compiled)


def compare(case: Case, folder: Path, seconds: float, output: Path | None) -> list[str]:
    """Print the table, row by row; return the lines of those that failed."""
    rate = measured_rate(DEVICE, "bfloat16")
    device = torch.cuda.get_device_name() if ON_GPU else "processor"
    print(f"{case.name}, {case.length} tokens, {device}, PyTorch {torch.__version__}")
    print(f"matrix products in bfloat16: {rate / 1e12:.1f} TFLOP/s\n\n| {' | '.join(HEADER)} |")
    print("|" + "---|" * len(HEADER), flush=True)
    failed, done = list[str](), list[dict[str, Any]]()
    for row in rows(case, folder, seconds, rate):
        if isinstance(row, str):
            failed.append(row)
            continue
        print(f"| {' | '.join(row.cells())} |", flush=True)
        done.append(asdict(row))
        if output:
            write_json(output, {"device": device, "products_per_second": rate, "rows": done})
    return failed


def profiled(case: Case) -> None:
    """Print where the time of a step goes."""
    work = Ours(case.recipe(), make_packed(20_000 if ON_GPU else 1_000), case.at_once // case.length)
    if work.work.computation.refused:
        raise RuntimeError(work.work.computation.refused)
    for _ in range(3):
        work.run(0.0)
    kernels = kernels_of(lambda: work.run(0.0), PROFILED)
    found = {name: microseconds / 1e6 / PROFILED for name, microseconds in sums(kernels).items()}
    print("| kernels | ms per step | share |\n|---|---|---|")
    for name in (*CLASSES, IDLE):
        print(f"| {name} | {found[name] * 1e3:.1f} | {found[name] / sum(found.values()):.0%} |")
    print("\n| kernel | class | calls per step | ms per step |\n|---|---|---|---|")
    for name, calls, seconds in longest(kernels, LISTED):
        row = name[:WIDTH], class_of(name), f"{calls / PROFILED:.0f}", f"{seconds / PROFILED * 1e3:.2f}"
        print(f"| {' | '.join(row)} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    parser.add_argument("--profile", action="store_true", help="seconds of a step by class of kernel")
    parser.add_argument("--output", type=Path, help="JSON file for the rows")
    arguments = parser.parse_args()
    if not (ON_GPU or arguments.quick):
        parser.error("needs a GPU that torch finds; without --quick, a processor would take hours")
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    case = CASES[0].tiny() if arguments.quick else CASES[0]
    if arguments.profile:
        profiled(case)
        return
    with TemporaryDirectory() as name:
        failed = compare(case, Path(name), 0.3 if arguments.quick else 8.0, arguments.output)
    print("\n".join(["", *failed]))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
