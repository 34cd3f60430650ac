"""Which GPU a run takes; no GPU is needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.hardware import gpu_claims as devices
from pubmill.hardware.gpu_claims import claim, take_gpu, visible_gpus

GPUS = ["0", "1", "2"]


def test_each_run_takes_the_gpu_that_fewest_have(tmp_path: Path) -> None:
    claims = [claim(GPUS, tmp_path) for _ in range(7)]
    assert [number for number, _ in claims] == [0, 1, 2, 0, 1, 2, 0]


def test_what_a_run_gives_back_is_taken_first(tmp_path: Path) -> None:
    claims = [claim(GPUS, tmp_path) for _ in range(3)]
    claims[1][1].release()
    assert claim(GPUS, tmp_path)[0] == 1


def test_a_killed_process_gives_its_gpu_back(tmp_path: Path) -> None:
    code = (
        "import sys, os, pathlib; from pubmill.hardware.gpu_claims import claim;"
        "held = claim(['0', '1'], pathlib.Path(sys.argv[1])); print(held[0], flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline() == b"0\n"
        number, held = claim(["0", "1"], tmp_path)
        assert number == 1
        held.release()
        other.kill()
    assert claim(["0", "1"], tmp_path)[0] == 0


def test_claims_are_on_the_systems_names(tmp_path: Path) -> None:
    """Two programs that see different GPUs, each as its first, don't get in each other's way."""
    first, second = claim(["0", "1"], tmp_path), claim(["1", "0"], tmp_path)
    assert (first[0], second[0]) == (0, 0)


@pytest.mark.parametrize(
    ("allowed", "count", "names"),
    [
        (None, 2, ["0", "1"]),
        ("3,1", 2, ["3", "1"]),
        ("GPU-ab", 1, ["GPU-ab"]),
        ("", 0, []),
        ("0,9", 1, ["0"]),
    ],
)
def test_visible_gpus(
    monkeypatch: pytest.MonkeyPatch, allowed: str | None, count: int, names: list[str]
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if allowed is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", allowed)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    assert visible_gpus() == names


def test_the_gpu_taken_becomes_the_current_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    current: list[int] = []
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(devices, "_HELD", [])
    assert [take_gpu(), take_gpu()] == [torch.device("cuda", 0), torch.device("cuda", 1)]
    assert current == [0, 1]
    assert (tmp_path / f"pubmill-{os.getuid()}").stat().st_mode & 0o077 == 0


def test_a_folder_that_another_user_laid_there_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / f"pubmill-{os.getuid()}").symlink_to(tmp_path)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    with pytest.raises(PubmillError, match="is not yours"):
        take_gpu()


def test_claims_are_files_of_the_gpu_and_the_turn(tmp_path: Path) -> None:
    """So that all versions of the program share them; names may stand apart in CUDA_VISIBLE_DEVICES."""
    held = [claim(["3", " 1"], tmp_path)[1] for _ in range(3)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gpu-1.1", "gpu-3.1", "gpu-3.2"]
    assert all(one.is_locked for one in held)
