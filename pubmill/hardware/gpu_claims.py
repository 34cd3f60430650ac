"""Which GPU a run takes, where several runs share those of a machine."""

import itertools
import os
import tempfile
from pathlib import Path

import torch
from filelock import FileLock

from pubmill.errors import PubmillError
from pubmill.storage.files import LockHeldError, lock

_HELD: list[FileLock] = []
"""Locks of this process's GPU: the system frees them when it ends, however it ends."""


def take_gpu() -> torch.device:
    """The GPU that fewest of this user's runs on this machine have, for as long as this process lives.

    There must be one. How many runs there are at once is not decided here (profiles/gpu: `gpu_slots`).
    """
    names = visible_gpus()
    if len(names) < 2:
        return torch.device("cuda", 0)
    number, held = claim(names, _lock_folder())
    _HELD.append(held)
    torch.cuda.set_device(number)  # so that whatever says just "cuda" means this one
    return torch.device("cuda", number)


def visible_gpus() -> list[str]:
    """The system's names of the GPUs that torch may use, in torch's order."""
    count = torch.cuda.device_count()
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    return (allowed.split(",") if allowed else [str(number) for number in range(count)])[:count]


def claim(names: list[str], folder: Path) -> tuple[int, FileLock]:
    """The number (in `names`) of a GPU that no other has more claims on, and the lock that claims it.

    Claims are locks on files of `folder`: the first of each GPU, then the second of each, and so on.
    """
    for turn in itertools.count(1):
        for number, name in enumerate(names):
            try:
                return number, lock(folder / f"gpu-{name.strip()}.{turn}")
            except LockHeldError:
                continue
    raise AssertionError("there is always another turn")


def _lock_folder() -> Path:
    """A folder of this user's for all runs on this machine."""
    folder = Path(tempfile.gettempdir()) / f"pubmill-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PubmillError(f"{folder} is not yours; remove it, or set TMPDIR to another folder")
    return folder
