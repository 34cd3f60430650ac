"""Every objective's step on a pretended CUDA device; no GPU is needed, but a C++ compiler."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.waiting import patience

HERE = Path(__file__).parent
OBJECTIVES = ("BERT", "RoBERTa", "Megatron", "ALBERT", "ELECTRA", "adversarial", "distillation")


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def outcomes(library: Path) -> dict[str, str]:
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "LD_LIBRARY_PATH": str(Path(torch.__file__).parent / "lib"),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, str(HERE / "trace_pretraining.py")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=patience(120),
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_step_leaves_nothing_on_the_processor(objective: str, outcomes: dict[str, str]) -> None:
    assert outcomes[objective] == "done"


@pytest.mark.parametrize("planted", ["planted teacher", "planted tensor"])
def test_what_was_left_on_the_processor_is_found(planted: str, outcomes: dict[str, str]) -> None:
    assert outcomes[planted].startswith("FakeTensorDeviceMismatchError")
