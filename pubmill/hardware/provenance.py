"""Provenance of results: code, packages, Python, hardware. Standard library only."""

import os
import platform
import subprocess
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from pubmill.hardware.process_limits import cores
from pubmill.messages.installation import DATA
from pubmill.storage.training_reports import MadeWith

COMMIT = "COMMIT"
"""File of an installed package: the commit that it was built from."""
PACKAGES = "torch transformers tokenizers safetensors numpy seqeval pyarrow duckdb nltk".split()
"""Packages whose versions can change a result."""


def provenance() -> MadeWith:
    """Return commit, packages, Python and hardware of this process: the machine's memory in bytes, its
    processor's model, and the processors that this process may use. `gpus`: the visible ones; empty if torch
    is not imported, as looking them up never imports it."""
    return {
        "commit": commit(),
        "packages": packages(),
        "python": platform.python_version(),
        "hardware": {
            "platform": platform.platform(),
            "cpu": next(iter(cpu_info("model name")), platform.processor() or platform.machine()),
            "cores": cores(),
            "memory": _memory_bytes(),
            "gpus": _gpu_names(),
        },
    }


def commit(root: Path = DATA) -> str | None:
    """Return the commit of the checkout `root`, with `-dirty` if tracked files differ, or the one that an
    installed package was built from; None if there is none. Variables such as `GIT_DIR` are not obeyed."""
    if not (root / ".git").exists():
        return (root / COMMIT).read_text(encoding="utf-8").strip() if (root / COMMIT).is_file() else None
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, env=own).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def packages() -> dict[str, str]:
    """Return the versions of the installed packages among `PACKAGES`, without importing them."""
    versions = {}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def cpu_info(*names: str, file: Path = Path("/proc/cpuinfo")) -> list[str]:
    """Return the values of these entries of /proc/cpuinfo; none where the system does not list them."""
    try:
        entries = [line.partition(":") for line in file.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return []
    return [value.strip() for name, _, value in entries if name.strip().lower() in names]


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
