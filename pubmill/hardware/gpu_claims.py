"""Assignment of GPUs to runs that share a machine."""

import itertools
import os
import tempfile
from pathlib import Path

import torch
from filelock import FileLock

from pubmill.errors import PubmillError
from pubmill.storage.files import LockHeldError, lock

_HELD: list[FileLock] = []
"""Locks of this process's GPU; the system releases them when the process ends, for any reason."""


def take_gpu() -> torch.device:
    """Return the GPU with the fewest runs of this user, claimed for the lifetime of this process. There must
    be at least one GPU. The number of simultaneous runs is decided elsewhere (profiles/gpu: `gpu_slots`)."""
    names = visible_gpus()
    if len(names) < 2:
        return torch.device("cuda", 0)
    number, held = claim(names, _lock_folder())
    _HELD.append(held)
    torch.cuda.set_device(number)  # So that plain "cuda" means this GPU.
    return torch.device("cuda", number)


def visible_gpus() -> list[str]:
    """Return the system's names of the GPUs that torch may use, in torch's order."""
    count = torch.cuda.device_count()
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    return (allowed.split(",") if allowed else [str(number) for number in range(count)])[:count]


def claim(names: list[str], folder: Path) -> tuple[int, FileLock]:
    """Return the index (in `names`) of a GPU with the fewest claims, and the lock that claims it. Claims are
    locks on files in `folder`: first one per GPU, then a second one per GPU, and so on."""
    for turn in itertools.count(1):
        for number, name in enumerate(names):
            try:
                return number, lock(folder / f"gpu-{name.strip()}.{turn}")
            except LockHeldError:
                continue
    raise AssertionError("there is always another turn")


def _lock_folder() -> Path:
    """Return a folder of this user for all runs on this machine."""
    folder = Path(tempfile.gettempdir()) / f"pubmill-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PubmillError(f"{folder} is not yours; remove it, or set TMPDIR to another folder")
    return folder
