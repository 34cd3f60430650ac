"""Pubmill's kernels by the real Triton, without a GPU (`make kernels`; it comes with PyTorch for GPUs)."""

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.waiting import patience

PROGRAM = Path(__file__).with_name("triton_kernels.py")


@pytest.fixture(autouse=True)
def triton() -> None:
    try:
        version("triton")
    except PackageNotFoundError:
        pytest.skip("Triton is not installed; make kernels installs it")


def output(task: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), task],
        env=os.environ | environment, capture_output=True, text=True, timeout=patience(300),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


NARROW = {"_update_block": 5}
"""Kernel -> single numbers that a program of it reads: the update's scale and four factors."""


def test_kernels_are_compiled_to_wide_accesses_without_spills(tmp_path: Path) -> None:
    """At least 20 warps fit into the 65,536 registers of a multiprocessor."""
    found = json.loads(output("compile", TRITON_CACHE_DIR=str(tmp_path)))
    assert {one["kernel"] for one in found} == NARROW.keys() and len(found) == 4
    for one in found:
        assert one["spilled"] == 0 and one["narrow"] == NARROW[one["kernel"]], one
        assert 65536 // (32 * one["registers"]) >= max(20, one["warps"]), one


def test_a_kernel_is_compiled_once_for_all_sizes() -> None:
    assert output("sizes") == "1"


def test_kernels_give_what_torch_gives() -> None:
    assert output("interpret", TRITON_INTERPRET="1") == "1"
