"""Attacks on files and folders while they are written: killed writers, and power cuts."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from pubmill.storage.files import recover, writing, writing_folder
from tests.attack import attack
from tests.world.dice import Dice

FILES = ("a", "b/c", "b/d")


class Cut(BaseException):
    """Simulated power cut."""


def write(folder: Path, version: int, size: int) -> None:
    content = f"{version}\n" * size
    with writing(folder / "made" / "file") as temporary:
        temporary.write_text(content)
    with writing_folder(folder / "made" / "folder") as temporary:
        (temporary / "b").mkdir()
        for name in FILES:
            (temporary / name).write_text(content)


def found(folder: Path) -> tuple[str, str]:
    """What is found of the file and of the folder at the next start: a version, `absent` or what is wrong."""
    recover(folder / "made" / "folder")
    file = _version(folder / "made" / "file")
    each = {_version(folder / "made" / "folder" / name) for name in FILES}
    return file, each.pop() if len(each) == 1 else f"mixed: {sorted(each)}"


def _version(path: Path) -> str:
    if not path.exists():
        return "absent"
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[0] if lines and len(set(lines)) == 1 else f"{path.name} has {len(lines)} lines"


@attack("killed-writers", cases=400)
def killed(dice: Dice, folder: Path) -> str:
    """SIGKILL while a file and a folder are replaced over and over: each is whole, of the older or a newer
    version, and the next writer leaves nothing else."""
    size, milliseconds = dice.between(1, 5_000), dice.between(0, 60)
    write(folder, 0, size)
    child = os.fork()
    if child == 0:
        for version in range(1, 1_000_000):
            write(folder, version, size)
    time.sleep(milliseconds / 1000)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    wrong = [version for version in found(folder) if not version.isdigit()]
    write(folder, 7, size)
    left = sorted(path.name for path in (folder / "made").iterdir())
    return "; ".join(wrong) or ("" if left == ["file", "folder"] else f"left behind: {left}")


@contextmanager
def disk(image: Path) -> Iterator[Path]:
    """An ext4 image as a folder; nothing is written back to it but what is synchronised, or by chance."""
    place = image.with_suffix(".mounted")
    place.mkdir()
    subprocess.run(["mount", "-o", "loop,data=writeback,commit=300", image, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def make_disk(image: Path) -> None:
    with image.open("wb") as content:
        content.truncate(2**24)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-J", "size=4", image], check=True)


@contextmanager
def cut_after(calls: int, cut: Callable[[], None]) -> Iterator[None]:
    """Cut the power after so many calls of `os.fsync` and `os.replace`, or at the end."""
    left = iter(range(calls))

    def counted(function: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            function(*arguments)
            if next(left, None) is None:
                cut()
                raise Cut

        return call

    with mock.patch("os.fsync", counted(os.fsync)), mock.patch("os.replace", counted(os.replace)):
        yield
    cut()


@cache
def no_loop_mounts() -> str:
    """Return why an image cannot be mounted here; "" if it can."""
    if os.geteuid() != 0:
        return "only root may mount an image of a disk"
    with TemporaryDirectory() as folder:
        try:
            make_disk(Path(folder, "probe.img"))
            with disk(Path(folder, "probe.img")):
                return ""
        except (OSError, subprocess.CalledProcessError) as error:
            return f"an ext4 image cannot be mounted: {error}"


@attack("power-cuts", cases=200, quick=3, absent=no_loop_mounts)
def power_cut(dice: Dice, folder: Path) -> str:
    """Power cut (ext4 image, journal flushed) at any step of replacing a file and a folder: each is whole, of
    the older or the newer version; what was finished is the newer."""
    image, left = folder / "before.img", folder / "after.img"
    make_disk(image)
    older, size = dice.chance(0.8), dice.between(1, 20_000)
    with disk(image) as place:
        journal = os.open(place / "other", os.O_CREAT | os.O_WRONLY)
        flush = os.fsync
        if older:
            write(place, 1, size)

        def cut() -> None:
            os.write(journal, b"x")
            flush(journal)  # of an unrelated file: names and lengths of all files go to the disk with it
            left.write_bytes(image.read_bytes())

        try:
            with cut_after(dice.below(40), cut):
                write(place, 2, size)
            done = True
        except Cut:
            done = False
        finally:
            os.close(journal)
    expected = {"2"} if done else {"1" if older else "absent", "2"}
    with disk(left) as place:
        wrong = [version for version in found(place) if version not in expected]
    return f"expected one of {sorted(expected)}, found {', '.join(wrong)}" if wrong else ""
