"""The pretended CUDA device, and programs that run on it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gpu import device_library
from tests.waiting import patience

HERE = Path(__file__).parent
Trace = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if reason := device_library.obstacle():
        pytest.skip(reason)
    return device_library.build(tmp_path_factory.mktemp("device") / "libpretended.so")


@pytest.fixture(scope="session")
def trace(library: Path) -> Trace:
    """Function that runs a program on the device and returns what it prints."""
    environment = device_library.environment(library)

    def run(program: str, *arguments: str) -> dict[str, Any]:
        command = [sys.executable, str(HERE / program), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=patience(300))
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    return run
