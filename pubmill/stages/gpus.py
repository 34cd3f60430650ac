"""Training speed of GPUs: the peaks in their data sheets, and the share of the peak that training reaches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pubmill.errors import PubmillError
from pubmill.recipes import Architecture
from pubmill.recipes.finetuning import Weights
from pubmill.specs import strict_yaml
from pubmill.storage.files import read_json

Use = Literal["pretraining", "finetuning"]
LONG, LARGE = 256, 1024
"""Nearest benchmark case: 512 tokens if length >= LONG, else 128; BERT-large if hidden size >= LARGE."""
MEASURED_KIND = {"tokens": "tokens", "mentions": "tokens"}
"""Kind of examples -> the kind whose fine-tuning was measured; for all others, `sequence`."""
FASTEST, PLAIN = ("BERT-base", 128), ("BERT-base, plain methods", 128)
"""Benchmark cases (model, length) that differ only in the methods of training."""


@dataclass(frozen=True)
class Gpus:
    """Peaks of GPUs and the share of the peak that training reaches. `peaks`: GPU -> operations per second;
    `shares`: use -> assumed share of the peak. `measured`: (model, length) of the benchmark -> measured share
    of `device`'s peak; empty if the benchmark was not run. `memory`: GPU -> bytes. `weights`: GPU -> the
    precision of the weights that fine-tuning computes with. `core`: operations per second of a processor
    core; 0 if unknown."""

    peaks: Mapping[str, float]
    shares: Mapping[str, float]
    device: str = ""
    measured: Mapping[tuple[str, int], float] | None = None
    finetuned_on: str = ""
    finetuning: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, Weights] = field(default_factory=dict)
    core: float = 0.0

    def share(self, architecture: Architecture, length: int) -> float:
        """Return the share of the peak that pretraining a model of this architecture reaches."""
        return (self.measured or {}).get(_benchmark_case(architecture, length), self.shares["pretraining"])

    def share_of_finetuning(self, kind: str) -> float:
        """Return the share of the peak that fine-tuning on examples of this kind reaches."""
        return self.finetuning.get(MEASURED_KIND.get(kind, "sequence"), self.shares["finetuning"])

    @property
    def plain(self) -> float:
        """The speed of the plain methods, relative to the fastest ones; 1 if it was not measured."""
        measured = self.measured or {}
        return measured[PLAIN] / measured[FASTEST] if {PLAIN, FASTEST} <= measured.keys() else 1.0

    def hours(self, operations: float, share: float) -> dict[str, float]:
        """Return the hours that `operations` take on one GPU of each type."""
        return {name: operations / (peak * share) / 3600 for name, peak in self.peaks.items()}

    def share_source(self, use: Use) -> str:
        """Return a description of where the share comes from."""
        alike = "other GPUs are assumed to reach the same share of their peak"
        if use == "pretraining" and self.measured:
            return f"measured on {self.device}; {alike}"
        if use == "finetuning" and self.finetuning:
            shares = " and ".join(f"{share:.1%} ({kind})" for kind, share in sorted(self.finetuning.items()))
            like = "other kinds are taken as sequence, mentions as tokens"
            return (
                f"{shares} of the peak, measured on {self.finetuned_on} with BERT-base in batches of 32; "
                f"{like}; {alike}, and so are models of other sizes"
            )
        return f"assumed: {self.shares[use]:.0%} of the peak"


NO_GPUS = Gpus({}, {})
"""For graphs that never compute the time or resources of a job."""


def _benchmark_case(architecture: Architecture, length: int) -> tuple[str, int]:
    """Return the model and length of benchmarks/pretraining.py that are most similar to these."""
    if architecture.family == "modernbert":
        return "ModernBERT-base", 1024
    base = "BERT-large" if architecture.hidden_size >= LARGE else "BERT-base"
    name = {"albert": "ALBERT-xxlarge", "electra": "ELECTRA-base"}.get(architecture.family, base)
    return name, 512 if length >= LONG else 128


def read_gpus(specs: Path, benchmarks: Path) -> Gpus:
    """Read the GPUs of `specs/gpus.yaml`, and the benchmarks' output if they were run."""
    errors: list[str] = []
    known = strict_yaml.read(specs / "gpus.yaml", "specs/gpus.yaml", errors).value
    if errors:
        raise PubmillError("\n".join(errors))
    peaks = {name: 1e12 * gpu["peak"] for name, gpu in known["gpus"].items()}
    device, speeds = _measured(benchmarks / "pretraining.json", peaks)
    finetuned_on, finetuned = _measured(benchmarks / "finetuning.json", peaks)
    return Gpus(
        peaks,
        known["assumed_share"],
        device,
        {(row["name"], row["length"]): share for row, share in speeds},
        finetuned_on,
        {row["kind"]: share for row, share in finetuned},
        memory={name: 1e9 * gpu["memory"] for name, gpu in known["gpus"].items()},
        weights={name: gpu.get("weights", "bfloat16") for name, gpu in known["gpus"].items()},
        core=1e12 * known["core"],
    )


def _measured(benchmark: Path, peaks: Mapping[str, float]) -> tuple[str, list[tuple[Any, float]]]:
    """Return the device of a benchmark, and its rows with their share of the peak; no rows if the benchmark
    was not run, or on a device that specs/gpus.yaml does not list."""
    found: dict[str, Any] = read_json(benchmark) if benchmark.is_file() else {"device": ""}
    peak = next((peak for name, peak in peaks.items() if name in found["device"]), None)
    rows = found.get("rows", ()) if peak else ()
    return found["device"], [(row, row["operations_per_second"] / (peak or 1)) for row in rows]
