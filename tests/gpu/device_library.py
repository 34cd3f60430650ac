"""The library of the pretended CUDA device: its build, and the environment of programs that use it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import torch

SOURCE = Path(__file__).parent / "pretended_device.cpp"


def obstacle() -> str | None:
    """Return why this machine cannot have the pretended device; None if it can."""
    if shutil.which("g++") is None:
        return "g++ is missing: it builds the pretended CUDA device"
    if sys.platform != "linux" or torch.version.cuda is not None:
        return "the pretended CUDA device needs Linux and a build of PyTorch for processors only"
    return None


def build(library: Path) -> Path:
    """Compile the library, in about three seconds; return its path."""
    library.parent.mkdir(parents=True, exist_ok=True)
    torch_folder = Path(torch.__file__).parent
    places = [f"-I{torch_folder / 'include'}", str(SOURCE), f"-L{torch_folder / 'lib'}"]
    command = ["g++", "-std=c++20", "-shared", "-fPIC", *places, "-lc10", "-ltorch_cpu", "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def environment(library: Path) -> dict[str, str]:
    """Return the environment in which a program has the device."""
    return os.environ | {
        "LD_PRELOAD": str(library),
        "LD_LIBRARY_PATH": str(Path(torch.__file__).parent / "lib"),
        "OMP_NUM_THREADS": "1",
    }
