"""Provenance of results: code, packages, Python, hardware. Standard library only."""

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from pubmill.hardware.process_limits import cores

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "numpy",
    "seqeval",
    "pyarrow",
    "duckdb",
    "nltk",
)
"""Packages whose versions can change a result."""


def provenance() -> dict[str, Any]:
    """Say with what this process computes.

    Returns `{"commit", "packages", "python", "hardware"}`:
    `commit`: the checkout's commit, with `-dirty` where tracked files differ from it; None where
    pubmill is no git checkout or git is missing.
    `packages`: name -> version of those of `PACKAGES` that are installed.
    `python`: such as "3.11.9".
    `hardware`: `{"platform", "cpu", "cores", "memory", "gpus"}`: operating system and machine,
    processor model, processors this process may use, bytes of main memory (None if unknown),
    names of the visible GPUs (looked up only if torch is already imported, so that asking never
    imports it; else empty).
    """
    return {
        "commit": commit(),
        "packages": packages(),
        "python": platform.python_version(),
        "hardware": hardware(),
    }


def commit(root: Path = ROOT) -> str | None:
    """Commit of the checkout whose top folder is `root`, `-dirty` if modified; None if there is none.

    Variables such as `GIT_DIR`, which name another repository, are not obeyed.
    """
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, env=own).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def packages() -> dict[str, str]:
    """Versions of the installed packages among `PACKAGES`, without importing them."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def hardware() -> dict[str, Any]:
    """Platform, processor, usable cores, memory in bytes and GPU names of this machine."""
    return {
        "platform": platform.platform(),
        "cpu": _processor_name(),
        "cores": cores(),
        "memory": _memory_bytes(),
        "gpus": _gpu_names(),
    }


def _processor_name() -> str:
    """The processor's model: from /proc on Linux, else what the platform module knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _gpu_names() -> list[str]:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
