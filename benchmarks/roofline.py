"""Predicted range of the speed of pretraining on one H100: rooflines of traced kernels, not measurements.

    .venv/bin/python benchmarks/roofline.py [--quick] [--case NAME...] [--output FILE]

A step of each recipe runs on a pretended CUDA device (tests/gpu), which computes no numbers but lists the
kernels that PyTorch starts. Each kernel then takes the time of its arithmetic or of its memory traffic on an
H100, whichever is longer. Each figure is a range between two sets of rates and assumptions, which the
program prints and tests/gpu/rooflines.py explains: the faster one counts nothing against us. MFU is relative
to a measured product of 8192 rows and columns (798 TFLOP/s). The peer is the BERT-base of transformers'
Trainer under the same assumptions. Needs g++ and a build of PyTorch for processors. With --quick, only
BERT-base at 128 tokens. FILE gets the seconds of a step by class of kernel as JSON; benchmarks/roofline.json,
of BERT-base at 128 tokens, is what a GPU's profile is compared with.
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

from benchmarks.kernel_classes import CLASSES
from pubmill.storage.files import write_json
from tests.gpu import device_library
from tests.gpu.rooflines import H100, SLOW_H100, Device
from tests.gpu.trace_recipes import CASES, TRAINER

PROGRAM = Path(__file__).resolve().parents[1] / "tests/gpu/trace_recipes.py"
HEADER = [
    "recipe",
    "tokens/s",
    "MFU",
    "ms/step",
    *CLASSES,
    *"kernels waits peak_GB padding over_Trainer".split(),
]


def traced(case: str, library: Path) -> dict[str, Any]:
    """Return the trace of a case, made in a process of its own, which has the device."""
    command, environment = [sys.executable, str(PROGRAM), case], device_library.environment(library)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{case}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])[case]
    return found


def cells(case: str, found: dict[str, Any], peers: dict[str, list[float]]) -> list[str]:
    """Return a line of the table; `peers`: the Trainer's tokens per second by length."""
    peer = peers.get(case.partition(",")[0].rpartition(" ")[2]) if "BERT-base" in case else None
    ratios = [ours / theirs for ours, theirs in zip(speeds(found), peer, strict=True)] if peer else []
    times = [between([found[name] * 1e3, found["slow"][name] * 1e3]) for name in ("seconds", *CLASSES)]
    return [
        case,
        between([speed / 1e3 for speed in speeds(found)], "k"),
        between([100 * share for share in mfus(found)], " %"),
        *times,
        f"{found['kernels']:,.0f}",
        str(sum(found.get("waits", {}).values())),
        f"{found['peak'] / 1e9:.1f}",
        f"{1 - found['tokens'] / found['padded']:.1%}",
        between(ratios) if peer else "–",
    ]


def speeds(found: dict[str, Any]) -> list[float]:
    """Return the tokens per second under the faster and the slower assumptions."""
    return [found["tokens"] / seconds for seconds in (found["seconds"], found["slow"]["seconds"])]


def mfus(found: dict[str, Any]) -> list[float]:
    """Return the model's operations per second over those of a measured product."""
    per_token = found["flops"] / found["tokens"] / H100.product
    return [speed * per_token for speed in speeds(found)]


def between(values: list[float], unit: str = "") -> str:
    """Return a range with two digits, of which a prediction has hardly more."""
    low, high = (f"{float(f'{value:.2g}'):,g}" for value in (min(values), max(values)))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def classes(found: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return the seconds of a step by class of kernel, under the faster and the slower assumptions."""
    sides = {"faster": found, "slower": found["slow"]}
    return {side: {name: seconds[name] for name in CLASSES} for side, seconds in sides.items()}


def assumptions(device: Device) -> str:
    """Return the rates of a set of assumptions."""
    forward, backward = (rate / 1e12 for rate in device.attention)
    parts = [
        f"products {device.products / 1e12:.0f} TFLOP/s",
        f"attention {forward:.0f} and {backward:.0f}",
        f"memory {device.bandwidth / 1e12:.1f} TB/s",
    ]
    return ", ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="BERT-base at 128 tokens only")
    parser.add_argument("--case", nargs="+", choices=CASES, help="only these recipes")
    parser.add_argument("--output", type=Path, help="JSON file for seconds by class of kernel")
    arguments = parser.parse_args()
    if reason := device_library.obstacle():
        parser.error(reason)
    chosen = ["BERT-base 128"] if arguments.quick else arguments.case or list(CASES)
    lengths = {case.partition(",")[0].rpartition(" ")[2] for case in chosen if "BERT-base" in case}
    cases = [case for case, length in TRAINER.items() if str(length) in lengths] + chosen
    for name, device in (("faster", H100), ("slower", SLOW_H100)):
        print(f"{name}: {assumptions(device)}")
    print(f"\n| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)
    peers: dict[str, list[float]] = {}
    lines, seconds = [], {}
    with TemporaryDirectory() as folder:
        library = device_library.build(Path(folder) / "libpretended.so")
        for case in cases:
            found = traced(case, library)
            if case in TRAINER:
                peers[str(TRAINER[case])] = speeds(found)
            print(f"| {' | '.join(cells(case, found, peers))} |", flush=True)
            seconds[case] = classes(found)
            lines.append(f"predicted MFU of {case}: {between(mfus(found))}")
    if arguments.output:
        write_json(arguments.output, seconds)
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
