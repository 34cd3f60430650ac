"""Predicted speed of pretraining on one H100: rooflines of traced kernels, not measurements.

    .venv/bin/python benchmarks/roofline.py [--quick] [--case NAME...]

A step of each recipe runs on a pretended CUDA device (tests/gpu), which computes no numbers but lists the
kernels that PyTorch starts. Each kernel then takes the time of its arithmetic or of its memory traffic on an
H100, whichever is longer, at the rates in tests/gpu/rooflines.py. MFU is relative to a measured product of
8192 rows and columns (798 TFLOP/s). The peer is the BERT-base of transformers' Trainer; `in_tiles` is the
ratio if attention computes whole tiles of 128 positions, which the other columns leave out. Needs g++ and a
build of PyTorch for processors. With --quick, only BERT-base at 128 tokens.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# replaces this folder, whose datasets.py would hide the library
sys.path[0] = str(Path(__file__).resolve().parents[1])

from tests.gpu import device_library
from tests.gpu.rooflines import H100
from tests.gpu.trace_recipes import CASES, TRAINER

PROGRAM = Path(__file__).resolve().parents[1] / "tests/gpu/trace_recipes.py"
HEADER = (
    "recipe tokens/s MFU ms/step products attention rest kernels waits peak_GB padding over_Trainer in_tiles"
).split()


def traced(case: str, library: Path) -> dict[str, Any]:
    """Return the trace of a case, made in a process of its own, which has the device."""
    command, environment = [sys.executable, str(PROGRAM), case], device_library.environment(library)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{case}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])[case]
    return found


def cells(case: str, found: dict[str, Any], peers: dict[str, float]) -> list[str]:
    """Return a line of the table; `peers`: the Trainer's tokens per second by length."""
    speed = found["tokens"] / found["seconds"]
    peer = peers.get(case.partition(",")[0].rpartition(" ")[2]) if "BERT-base" in case else None
    in_tiles = found["seconds"] + found["attention"] * (found.get("tiles", 1.0) - 1)
    times = [f"{found[name] * 1e3:.0f}" for name in ("seconds", "products", "attention", "rest")]
    return [
        case,
        f"{speed:,.0f}",
        f"{mfu(found):.1%}",
        *times,
        f"{found['kernels']:,.0f}",
        str(sum(found.get("waits", {}).values())),
        f"{found['peak'] / 1e9:.1f}",
        f"{1 - found['tokens'] / found['padded']:.1%}",
        f"{speed / peer:.2f}" if peer else "–",
        f"{found['tokens'] / in_tiles / peer:.2f}" if peer else "–",
    ]


def mfu(found: dict[str, Any]) -> float:
    """Return the model's operations per second over those of a measured product."""
    return float(found["flops"] / found["seconds"] / H100.product)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="BERT-base at 128 tokens only")
    parser.add_argument("--case", nargs="+", choices=CASES, help="only these recipes")
    arguments = parser.parse_args()
    if reason := device_library.obstacle():
        parser.error(reason)
    chosen = ["BERT-base 128"] if arguments.quick else arguments.case or list(CASES)
    lengths = {case.partition(",")[0].rpartition(" ")[2] for case in chosen if "BERT-base" in case}
    cases = [case for case, length in TRAINER.items() if str(length) in lengths] + chosen
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)
    peers: dict[str, float] = {}
    lines = []
    with TemporaryDirectory() as folder:
        library = device_library.build(Path(folder) / "libpretended.so")
        for case in cases:
            found = traced(case, library)
            if case in TRAINER:
                peers[str(TRAINER[case])] = found["tokens"] / found["seconds"]
            print(f"| {' | '.join(cells(case, found, peers))} |", flush=True)
            lines.append(f"predicted MFU of {case}: {mfu(found):.3f}")
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
