"""benchmarks/gpu.sh on a machine that has torch and transformers only: here without a GPU, as a rehearsal."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import bare_environment
from tests.waiting import patience


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_environment.make(tmp_path_factory.mktemp("bare") / "environment")


def gpu_sh(root: Path, python: Path, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHON": str(python), "OUT": str(out)}
    environment.pop("PYTHONPATH", None)
    command = [str(root / "benchmarks/gpu.sh"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=patience(300))


def figures(out: Path, part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / f"{part}.json").read_text())
    assert found["device"] == "processor" and found["accelerate"] is False
    return found


@pytest.mark.long
def test_the_environment_is_bare(python: Path) -> None:
    others = ("pyarrow", "lxml", "pytest", "snakemake")
    code = f"import torch, transformers, importlib.util as u; print(any(map(u.find_spec, {others})))"
    assert subprocess.run([python, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_without_a_gpu_only_a_rehearsal_runs(root: Path, python: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (["processes"], "finds no GPU; on another machine: benchmarks/gpu.sh --rehearse PART"),
        (["--rehearse", "proceses"], "unknown part proceses; expected: tests pretraining"),
    ):
        done = gpu_sh(root, python, tmp_path / "out", *arguments)
        assert done.returncode and message in done.stderr
    assert not (tmp_path / "out").exists()


TABLE = """
import sys
from pathlib import Path
from benchmarks import pretraining as table

def measured(*given):
    speed = table.Speed(1000.0, 1e9, 1.0)
    for name in (table.PEER, "BERT-base"):
        yield table.Row(name, 128, speed, 8, None, None)
    raise TimeoutError

table.measured, table.measured_rate = measured, lambda *given: 1e12
table.table([], Path(), 0.0, Path(sys.argv[1]))
"""
"""A benchmark that is ended after its first row."""
HANGING = """
import subprocess, sys
from benchmarks import gpu_runs
program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
print(gpu_runs.finish(gpu_runs.run(["-c", program], {}), 2))
"""
"""A program that does not end, nor does its child."""


@pytest.mark.long
def test_figures_are_written_after_each_row(root: Path, python: Path, tmp_path: Path) -> None:
    command = [str(python), "-c", TABLE, str(tmp_path / "figures.json")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert "TimeoutError" in done.stderr
    [row] = json.loads((tmp_path / "figures.json").read_text())["rows"]
    assert row == {"name": "BERT-base", "length": 128, "operations_per_second": 1e9}


@pytest.mark.long
def test_a_program_that_hangs_is_a_failure(root: Path, python: Path) -> None:
    done = subprocess.run(
        [python, "-c", HANGING], cwd=root, capture_output=True, text=True, timeout=patience(60)
    )
    assert done.stdout.startswith("no end after 2 s")


@pytest.mark.long
def test_every_table_and_check_is_rehearsed(root: Path, python: Path, tmp_path: Path) -> None:
    parts = ("tests", "pretraining", "finetuning", "processes")
    done = gpu_sh(root, python, tmp_path, "--rehearse", *parts)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in tmp_path.glob("*.md")} == set(parts)
    assert "17 of 17 checks passed" in (tmp_path / "tests.md").read_text()
    assert "| ALBERT-xxlarge | 512 |" in (tmp_path / "pretraining.md").read_text()
    assert len(figures(tmp_path, "pretraining")["rows"]) == 9
    assert "chemprot, ours over dynamic" in figures(tmp_path, "finetuning")["figures"]
    assert "two processes by gloo: largest difference" in (tmp_path / "processes.md").read_text()
