"""Hashes of PyTorch's wheels on the package index, of its CUDA libraries and compiler, and of what benchmarks
need.

    python -m tests.torch_lock --write      (make lock)

Writes requirements/torch.txt: the index's wheels (CUDA on Linux, CPU on a Mac) of the version that the file
names, and requirements/cuda.txt: those for Linux and the CUDA libraries that they depend on, each for every
Python and machine below. requirements/triton.txt repeats those of Triton, which `make kernels` installs.
requirements/bench.txt gets the packages that it names, which `make bench` installs.
pip resolves all from metadata; nothing is installed, and no wheel is fetched.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from tests.envs import ROOT, pins

PYTHONS = ("3.11", "3.12", "3.13")
GLIBC = ("manylinux_2_28", *(f"manylinux_2_{minor}" for minor in range(27, 16, -1)), "manylinux2014")
LINUX = ("x86_64", "aarch64")
MAC = ("macosx_14_0_arm64",)
NAMES = "torch.txt", "cuda.txt", "triton.txt", "bench.txt"
TORCH, CUDA, TRITON, BENCH = (ROOT / "requirements" / name for name in NAMES)

Hashes = dict[str, set[str]]
"""`name==version` -> SHA-256 of each wheel."""


def resolved(pin: str, python: str, platforms: Iterable[str], whole: bool) -> Hashes:
    """Return the wheels that pip would install for `name==version`, with dependencies if `whole`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        options = [f"--platform={platform}" for platform in platforms]
        command = [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"),
            *("--only-binary=:all:", f"--python-version={python}", *options, f"--target={folder}"),
            *([] if whole else ["--no-deps"]),
            *(f"--report={report}", pin),
        ]
        # The machine's own wheel locations are ignored, because the lock is for everybody.
        alone = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
        subprocess.run(command, check=True, env=os.environ | alone)
        return {
            f"{_normal(found['metadata']['name'])}=={found['metadata']['version']}": {
                found["download_info"]["archive_info"]["hashes"]["sha256"]
            }
            for found in json.loads(report.read_text(encoding="utf-8"))["install"]
        }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def joined(parts: Iterable[Hashes]) -> Hashes:
    made: Hashes = {}
    for part in parts:
        for pin, hashes in part.items():
            made.setdefault(pin, set()).update(hashes)
    return made


def written(comment: str, hashes: Hashes) -> str:
    lines = [f"# {line}" for line in comment.strip().splitlines()]
    for pin, known in sorted(hashes.items()):
        lines.append(" \\\n".join([pin, *(f"    --hash=sha256:{one}" for one in sorted(known))]))
    return "\n".join(lines) + "\n"


def cuda_closure(torch: str) -> Hashes:
    """Return torch for Linux and the CUDA libraries that it depends on, without packages of lock.txt."""
    runs = [(python, machine) for machine in LINUX for python in PYTHONS]
    found = joined(
        resolved(torch, python, [f"{glibc}_{machine}" for glibc in GLIBC], whole=True)
        for python, machine in runs
    )
    locked = pins().keys() - {"torch"}
    return {pin: hashes for pin, hashes in found.items() if pin.partition("==")[0] not in locked}


TORCH_COMMENT = """
The one package outside lock.txt, as the right build depends on the machine. Written by `make lock`; for
another version, change it here first. `make` installs these wheels on a Mac, requirements/cuda.txt on Linux
with an NVIDIA GPU, and on Linux without one the build for processors (version +cpu) of PyTorch's own index:
that one is pinned by its version alone, its hashes are not known here.
"""
CUDA_COMMENT = """
PyTorch for NVIDIA GPUs on Linux (CUDA 13) and the CUDA libraries that it asks for; all else is in lock.txt.
Written by `make lock` from requirements/torch.txt.
"""
TRITON_COMMENT = """
The compiler of kernels that PyTorch for NVIDIA GPUs brings with it, for `make kernels` on machines without a
GPU. Written by `make lock` from requirements/cuda.txt.
"""
BENCH_COMMENT = """
What only benchmarks/ need (`make bench`); their dependencies are in lock.txt and torch.txt. Written by
`make lock`; for another version or package, name it here first.
"""


def main() -> None:
    pin = f"torch=={pins()['torch']}"
    mac = joined(resolved(pin, python, MAC, whole=False) for python in PYTHONS)
    cuda = cuda_closure(pin)
    TORCH.write_text(written(TORCH_COMMENT, {pin: mac[pin] | cuda[pin]}))
    CUDA.write_text(written(CUDA_COMMENT, cuda))
    TRITON.write_text(written(TRITON_COMMENT, triton_of(cuda)))
    machines = (MAC, *([f"{glibc}_{machine}" for glibc in GLIBC] for machine in LINUX))
    runs = product(pinned(BENCH), PYTHONS, machines)
    BENCH.write_text(written(BENCH_COMMENT, joined(resolved(*run, whole=False) for run in runs)))


def triton_of(cuda: Hashes) -> Hashes:
    return {pin: hashes for pin, hashes in cuda.items() if pin.startswith("triton==")}


def pinned(path: Path) -> Hashes:
    blocks = re.findall(
        r"(?m)^([a-z0-9._-]+==[^\s\\]+)((?:\s*\\\n\s+--hash=sha256:[0-9a-f]{64})*)",
        path.read_text(encoding="utf-8"),
    )
    return {pin: set(re.findall(r"[0-9a-f]{64}", hashes)) for pin, hashes in blocks}


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    main()
