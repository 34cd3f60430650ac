"""The pretended CUDA device, and programs that run on it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.waiting import patience

HERE = Path(__file__).parent
Trace = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("g++ is missing: it builds the pretended CUDA device")
    if sys.platform != "linux" or torch.version.cuda is not None:
        pytest.skip("the pretended CUDA device needs Linux and a build of PyTorch for processors only")
    made = tmp_path_factory.mktemp("device") / "libpretended.so"
    torch_folder = Path(torch.__file__).parent
    includes, libraries = f"-I{torch_folder / 'include'}", f"-L{torch_folder / 'lib'}"
    command = ["g++", "-std=c++20", "-shared", "-fPIC", includes, str(HERE / "pretended_device.cpp")]
    subprocess.run([*command, libraries, "-lc10", "-ltorch_cpu", "-o", str(made)], check=True)
    return made


@pytest.fixture(scope="session")
def trace(library: Path) -> Trace:
    """Function that runs a program on the device and returns what it prints."""
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "LD_LIBRARY_PATH": str(Path(torch.__file__).parent / "lib"),
        "OMP_NUM_THREADS": "1",
    }

    def run(program: str) -> dict[str, Any]:
        command = [sys.executable, str(HERE / program)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=patience(120))
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    return run
