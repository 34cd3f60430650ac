"""benchmarks/gpu.sh on a machine that has torch and transformers only: here without a GPU, as a rehearsal."""

import json
import os
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pretraining_methods import WINDOWS
from pubmill.pretraining.methods import PLAIN
from tests import bare_environment
from tests.waiting import patience
from tests.warm import Warm


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_environment.make(tmp_path_factory.mktemp("bare") / "environment")


def gpu_sh(
    root: Path, python: Path, out: Path, *arguments: str, limit: int = 3600
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHON": str(python), "OUT": str(out), "LIMIT": str(limit)}
    environment.pop("PYTHONPATH", None)
    command = [str(root / "benchmarks/gpu.sh"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=patience(300))


def figures(out: Path, part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / f"{part}.json").read_text())
    assert found["device"] == "processor" and found["accelerate"] is False
    return found


def figures_of_methods(out: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((out / "methods.json").read_text())["rows"]
    assert all(len(row["speeds"]) == WINDOWS and row["start"] > 0 for row in rows)
    return rows


def test_without_a_gpu_only_a_rehearsal_runs(root: Path, python: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (["processes"], "finds no GPU; on another machine: benchmarks/gpu.sh --rehearse PART"),
        (["--rehearse", "proceses"], "unknown part proceses; expected: methods profile tests"),
        (["--rehearse", "tests", "resume"], "one part a call; found: tests resume"),
    ):
        done = gpu_sh(root, python, tmp_path / "out", *arguments)
        assert done.returncode and message in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.weekly
def test_every_table_and_check_is_rehearsed(root: Path, python: Path, tmp_path: Path) -> None:
    parts = ("methods", "profile", "tests", "pretraining", "finetuning", "resume", "processes", "seeds")
    with closing(Warm(of=str(python))) as warm:
        for part in parts:
            # Their programs are many and compile nothing.
            runs = Path(warm.python) if part in ("resume", "processes", "seeds") else python
            done = gpu_sh(root, runs, tmp_path, "--rehearse", part)
            assert done.returncode == 0, done.stderr
    assert {path.stem for path in tmp_path.glob("*.md")} == set(parts)
    assert "34 of 34 checks passed" in (tmp_path / "tests.md").read_text()
    assert "| ALBERT-xxlarge | 512 |" in (tmp_path / "pretraining.md").read_text()
    assert "padded sequences, weights in float32" in (tmp_path / "pretraining.md").read_text()
    assert len(figures(tmp_path, "pretraining")["rows"]) == 11
    assert "chemprot, ours over dynamic" in figures(tmp_path, "finetuning")["figures"]
    methods = [row["methods"] for row in figures_of_methods(tmp_path)]
    assert methods == [PLAIN.describe(), "the Trainer's loop", "the Trainer's loop with torch_compile"]
    assert "| products |" in (tmp_path / "profile.md").read_text()
    resume = (tmp_path / "resume.md").read_text()
    assert resume.count("same weights: True") == 2 and resume.count("same predictions: True") == 2
    processes = (tmp_path / "processes.md").read_text()
    for recipe in ("float32 without dropout: largest", "bfloat16 with dropout: largest"):
        assert f"two processes by gloo, {recipe}" in processes
    assert processes.count("with dropout, deterministic: same weights: True") == 1
    assert (tmp_path / "seeds.md").read_text().count("same predictions: True") == 3
