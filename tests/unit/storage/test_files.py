"""Outputs are complete or absent."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage.files import (
    lock,
    locked,
    read_json,
    recover,
    sealed,
    write_json,
    write_jsonl_gz,
    writing,
    writing_folder,
)


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before")
    with pytest.raises(PubmillError, match=r"no space left on the disk while writing .*out.*free some space"):
        with writing(tmp_path / "out") as temporary:
            temporary.write_text("half")
            full_disk()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "before"


def test_a_full_disk_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="no space left"):
        with writing_folder(tmp_path / "model") as temporary:
            (temporary / "half").write_text("x")
            full_disk()
    assert list(tmp_path.iterdir()) == []


def test_any_other_failure_leaves_nothing_either(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        with writing(tmp_path / "out") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with writing_folder(tmp_path / "model") as temporary:
            (temporary / name).write_text(name)
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["b"]


def test_what_a_killed_process_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    code = textwrap.dedent(
        f"""
        import os, signal
        from pathlib import Path
        from pubmill.storage.files import writing
        with writing(Path({str(tmp_path)!r}) / "out") as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    root = Path(__file__).resolve().parents[3]
    killed = subprocess.run([sys.executable, "-c", code], cwd=root, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1 and not (tmp_path / "out").exists()
    write_json(tmp_path / "out", {})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_equal_values_give_equal_bytes(tmp_path: Path) -> None:
    write_json(tmp_path / "a", {"x": 1, "y": [1.5, "ä"]})
    write_json(tmp_path / "b", {"y": [1.5, "ä"], "x": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    write_jsonl_gz(tmp_path / "c", [{"b": 1, "a": 2}])
    write_jsonl_gz(tmp_path / "d", [{"a": 2, "b": 1}])
    assert (tmp_path / "c").read_bytes() == (tmp_path / "d").read_bytes()


def test_a_folder_whose_replacement_was_interrupted_is_found_again(tmp_path: Path) -> None:
    aside = tmp_path / ".model.replaced"
    aside.mkdir()
    (aside / "older").touch()
    recover(tmp_path / "model")
    assert (tmp_path / "model" / "older").exists() and not aside.exists()
    aside.mkdir()
    recover(tmp_path / "model")  # killed after the new one had its name
    assert (tmp_path / "model" / "older").exists() and not aside.exists()


def test_a_folder_that_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with writing_folder(tmp_path / "model") as temporary:
        (temporary / "older").touch()
    replace = os.replace

    def fail(before: Path, after: Path) -> None:
        if str(before).endswith(".tmp") and after == tmp_path / "model":
            full_disk()
        replace(before, after)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(PubmillError, match="no space left"), writing_folder(tmp_path / "model"):
        pass
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["model", "older"]


def test_a_full_disk_is_recognised_in_the_errors_of_libraries(tmp_path: Path) -> None:
    class SafetensorError(Exception):
        pass

    text = "Error while serializing: I/O error: No space left on device (os error 28)"
    with pytest.raises(PubmillError, match=r"no space left on the disk while writing .*step-5"):
        with writing_folder(tmp_path / "step-5"):
            raise SafetensorError(text)
    with pytest.raises(SafetensorError, match="header"), writing_folder(tmp_path / "step-5"):
        raise SafetensorError("invalid header")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("a small disk cannot be mounted here; only root may")
    yield place
    subprocess.run(["umount", place], check=True)


def test_weights_on_a_disk_that_is_full(small_disk: Path) -> None:
    numpy, safetensors = pytest.importorskip("numpy"), pytest.importorskip("safetensors.numpy")
    with pytest.raises(PubmillError, match=r"no space left on the disk while writing .*step-5.*free some"):
        with writing_folder(small_disk / "step-5") as temporary:
            safetensors.save_file({"w": numpy.zeros(10**6, "f4")}, temporary / "model.safetensors")
    assert list(small_disk.iterdir()) == []


def test_a_folder_that_cannot_be_written(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for attempt in (lock, lambda path: write_json(path, {}), lambda path: write_json(path / "deeper", {})):
        with pytest.raises(
            PubmillError, match=r"cannot write .*\.lock.*: Read-only file system\. Make its folder"
        ):
            attempt(small_disk / ".lock")


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(
        PubmillError, match="file system without file locks.*point `results:` at another disk"
    ):
        lock(tmp_path / "lock")


def test_malformed_json_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{\n "a": 1,\n}')
    with pytest.raises(PubmillError, match=r"x\.json:3: not valid JSON"):
        read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(PubmillError, match=r"x\.json: not valid JSON"):
        read_json(tmp_path / "x.json")


def test_a_sealed_object_is_bound_to_its_digest(tmp_path: Path) -> None:
    path, value = tmp_path / "x.json", {"score": 0.1 + 0.2, "n": {"1": [None, "ä"]}}
    write_json(path, sealed(value))
    assert read_json(path) == value
    path.write_text(path.read_text().replace("0.30000000000000004", "0.30000000000000001"))
    with pytest.raises(PubmillError, match=r"x\.json is damaged.*doctor fsck"):
        read_json(path)
    write_json(path, value)  # as earlier versions wrote it
    assert read_json(path) == value


def test_a_lock_is_held_once_and_freed_when_its_holder_is_killed(tmp_path: Path) -> None:
    held = lock(tmp_path / "lock")
    with pytest.raises(PubmillError, match="another process is at work here"):
        lock(tmp_path / "lock")
    held.release()
    lock(tmp_path / "lock").release()
    child = os.fork()
    if child == 0:
        lock(tmp_path / "lock")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    lock(tmp_path / "lock").release()


def test_a_lock_that_was_removed_while_waiting_is_not_mistaken_for_held(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path):
        with pytest.raises(PubmillError, match="another process is at work here"):
            lock(path)
    assert not path.exists()
    with locked(path):
        assert path.exists()
