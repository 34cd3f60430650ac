"""How fast GPUs train: peaks of their data sheets, and the share of them that is reached."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pubmill.errors import PubmillError
from pubmill.recipes import Architecture
from pubmill.specs import strict_yaml
from pubmill.storage.files import read_json

Use = Literal["pretraining", "finetuning"]
LONG, LARGE = 256, 1024
"""From so many tokens on, the benchmark's sequences of 512 are nearest, else those of 128; from so wide on,
its larger model."""


@dataclass(frozen=True)
class Gpus:
    """`peaks`: name -> operations a second; `shares` of it that are assumed. `measured`: (model, length) of
    the benchmark -> the share of `device`'s peak that was reached; empty where it was not run."""

    peaks: Mapping[str, float]
    shares: Mapping[str, float]
    device: str = ""
    measured: Mapping[tuple[str, int], float] | None = None

    def share(self, architecture: Architecture, length: int, use: Use = "pretraining") -> float:
        """The share of the peak that a training of this shape reaches."""
        case = _case(architecture), 512 if length >= LONG else 128
        if use == "pretraining" and self.measured and case in self.measured:
            return self.measured[case]
        return self.shares[use]

    def hours(self, operations: float, share: float) -> dict[str, float]:
        """Hours of one GPU of each type for so many operations."""
        return {name: operations / (peak * share) / 3600 for name, peak in self.peaks.items()}

    def told(self, use: Use) -> str:
        """Where the share is from."""
        if use == "pretraining" and self.measured:
            return f"measured on {self.device}; of other GPUs taken to be the same share of their peak"
        return f"assumed: {self.shares[use]:.0%} of the peak"


def _case(architecture: Architecture) -> str:
    """The model of benchmarks/pretraining.py that is most like it."""
    if architecture.family == "albert":
        return "ALBERT-xxlarge"
    if architecture.family == "electra":
        return "ELECTRA-base"
    return "BERT-large" if architecture.hidden_size >= LARGE else "BERT-base"


def read_gpus(specs: Path, benchmark: Path) -> Gpus:
    """The GPUs of `specs/gpus.yaml`, and what the benchmark wrote, if it was run."""
    errors: list[str] = []
    known = strict_yaml.read(specs / "gpus.yaml", "specs/gpus.yaml", errors).value
    if errors:
        raise PubmillError("\n".join(errors))
    peaks = {name: 1e12 * gpu["peak"] for name, gpu in known["gpus"].items()}
    found = read_json(benchmark) if benchmark.is_file() else None
    if found is None:
        return Gpus(peaks, known["assumed_share"])
    return Gpus(peaks, known["assumed_share"], found["device"], _measured(found, peaks))


def _measured(found: Mapping[str, Any], peaks: Mapping[str, float]) -> dict[tuple[str, int], float]:
    """Shares of the device's peak; none where specs/gpus.yaml doesn't know the device."""
    peak = next((peak for name, peak in peaks.items() if name in found["device"]), None)
    rows = found["rows"] if peak else ()
    return {(row["name"], row["length"]): row["operations_per_second"] / (peak or 1) for row in rows}
