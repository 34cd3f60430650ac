"""Outputs are complete or absent; bytes of files, leftovers of other processes, and locks."""

import errno
import fcntl
import gzip
import hashlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.storage import files


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class SafetensorError(Exception):
    """An error of a library, which quotes the system's message."""


def test_a_full_disk_leaves_what_was_there_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before")
    with pytest.raises(PubmillError, match=r"no space left on the disk while writing .*out.*free some space"):
        with files.writing(tmp_path / "out") as temporary:
            temporary.write_text("half")
            full_disk()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "before"


@pytest.mark.parametrize("context", [files.writing, files.writing_folder])
@pytest.mark.parametrize(("error", "message"), [
    (KeyboardInterrupt(), None), (KeyError("mine"), None), (SafetensorError("invalid header"), None),
    (PubmillError("mine"), "^mine$"),
    (OSError(errno.ENOSPC, "No space left on device"), "no space"),
    (SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
     "no space left on the disk while writing .*out"),
    *((OSError(number, os.strerror(number)), rf"cannot write .*out: {os.strerror(number)}. Make its")
      for number in (errno.EROFS, errno.EACCES, errno.EPERM)),
    (OSError(errno.EIO, "Input/output error"), "cannot write .*out: Input/output error$"),
])  # fmt: skip
def test_any_failure_leaves_nothing(
    tmp_path: Path, context: Any, error: BaseException, message: str | None
) -> None:
    with pytest.raises(PubmillError if message else type(error), match=message):
        with context(tmp_path / "out") as temporary:
            (temporary / "half" if context is files.writing_folder else temporary).write_text("x")
            raise error
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_whole_and_found_again_if_that_was_interrupted(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with files.writing_folder(tmp_path / "whole") as temporary:
            (temporary / name).write_text(name)
    assert [path.name for path in (tmp_path / "whole").iterdir()] == ["b"]
    aside = tmp_path / ".model.replaced"
    aside.mkdir()
    (aside / "older").touch()
    files.recover(tmp_path / "model")
    assert (tmp_path / "model" / "older").exists() and not aside.exists()
    aside.mkdir()
    files.recover(tmp_path / "model")  # killed after the new one had its name
    assert (tmp_path / "model" / "older").exists() and not aside.exists()


def test_what_a_killed_process_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with files.writing(tmp_path / "out") as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list(tmp_path.iterdir())) == 1 and not (tmp_path / "out").exists()
    files.write_json(tmp_path / "out", {})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with files.writing_folder(tmp_path / "model") as temporary:
        (temporary / "older").touch()
    replace = os.replace

    def fail(before: Path, after: Path) -> None:
        if str(before).endswith(".tmp") and after == tmp_path / "model":
            full_disk()
        replace(before, after)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(PubmillError, match="no space left"), files.writing_folder(tmp_path / "model"):
        pass
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["model", "older"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("a small disk cannot be mounted here; only root may")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_small_disk_that_is_full_or_read_only(small_disk: Path) -> None:
    numpy, safetensors = pytest.importorskip("numpy"), pytest.importorskip("safetensors.numpy")
    with pytest.raises(PubmillError, match=r"no space left on the disk while writing .*step-5.*free some"):
        with files.writing_folder(small_disk / "step-5") as temporary:
            safetensors.save_file({"w": numpy.zeros(10**6, "f4")}, temporary / "model.safetensors")
    assert list(small_disk.iterdir()) == []
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for attempt in (
        files.lock,
        lambda path: files.write_json(path, {}),
        lambda path: files.write_json(path / "deeper", {}),
    ):
        with pytest.raises(PubmillError, match=r"cannot write .*\.lock.*: Read-only file system\. Make its"):
            attempt(small_disk / ".lock")


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(PubmillError, match="file system without file locks.*point `results:` at another"):
        files.lock(tmp_path / "lock")


def test_json_is_indented_and_sealed_by_the_digest_of_its_compact_form(tmp_path: Path) -> None:
    files.write_json(tmp_path / "a.json", {"b": [1], "a": "é"})
    assert (tmp_path / "a.json").read_bytes() == '{\n  "a": "é",\n  "b": [\n    1\n  ]\n}\n'.encode()
    (tmp_path / "x.json").write_text('{\n "a": 1,\n}')
    with pytest.raises(PubmillError, match=r"x\.json:3: not valid JSON"):
        files.read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(PubmillError, match=r"x\.json: not valid JSON"):
        files.read_json(tmp_path / "x.json")
    value = {"b": 1, "a": [2, {"d": 0.5, "c": None}]}
    digest = hashlib.sha256(b'{"a":[2,{"c":null,"d":0.5}],"b":1}').hexdigest()
    assert [one for one in files.sealed(value).values() if one not in value.values()] == [digest]
    files.write_json(tmp_path / "a", files.sealed(value))
    assert files.read_json(tmp_path / "a") == value
    (tmp_path / "a").write_text((tmp_path / "a").read_text().replace("0.5", "0.6"))
    with pytest.raises(PubmillError, match="is damaged: it does not agree with its"):
        files.read_json(tmp_path / "a")


def test_locks_are_held_once_and_freed_when_their_holder_is_killed(tmp_path: Path) -> None:
    held = files.lock(tmp_path / "lock")
    with pytest.raises(PubmillError, match="another process is at work here"):
        files.lock(tmp_path / "lock")
    held.release()
    files.lock(tmp_path / "lock").release()
    child = os.fork()
    if child == 0:
        files.lock(tmp_path / "lock")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    files.lock(tmp_path / "lock").release()
    path = tmp_path / "lock"
    with files.locked(path):
        with pytest.raises(PubmillError, match="another process is at work here"):
            files.lock(path)
    assert not path.exists()
    with files.locked(path):
        assert path.exists()


def test_lines_are_sorted_in_utf_8_and_packed_without_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    files.write_jsonl_gz(path, [{"b": 1, "a": "é"}, {}])
    content = path.read_bytes()
    assert gzip.decompress(content) == '{"a": "é", "b": 1}\n{}\n'.encode()
    assert content[3] == 0 and content[4:8] == bytes(4)  # RFC 1952: no file name, no time
    assert list(files.read_jsonl_gz(path)) == [{"a": "é", "b": 1}, {}]
    assert path.stat().st_mode & 0o077 == 0o666 & ~umask() & 0o077
    files.write_jsonl_gz(path, [], private=True)
    assert path.stat().st_mode & 0o777 == 0o600


def umask() -> int:
    before = os.umask(0)
    os.umask(before)
    return before


def leftovers(folder: Path, *processes: int) -> list[Path]:
    """Temporary files of the output `out` as these processes would leave them; one is a folder."""
    own = files.temporary_name(folder / "out").name
    paths = [folder / own.replace(f".{os.getpid()}.", f".{process}.") for process in processes]
    paths[0].mkdir()
    (paths[0] / "inner").touch()
    for path in paths[1:]:
        path.touch()
    return paths


def test_leftovers_of_ended_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    for _ in range(2):
        with subprocess.Popen(["true"]) as process:
            process.wait()
        ended.append(process.pid)
    foreign = max(ended) + 1
    paths = leftovers(tmp_path, *ended, os.getppid(), foreign)
    other = tmp_path / f".out.elsewhere.{ended[0]}.tmp"
    other.touch()
    kill = os.kill

    def refusing(process: int, number: int) -> None:
        if process == foreign:
            raise PermissionError
        kill(process, number)

    monkeypatch.setattr(os, "kill", refusing)
    with files.writing(tmp_path / "out") as temporary:
        temporary.touch()
    assert sorted(tmp_path.iterdir()) == sorted([*paths[2:], other, tmp_path / "out"])


@pytest.mark.parametrize(
    ("number", "passes"), [(errno.EINVAL, True), (errno.EOPNOTSUPP, True), (errno.EIO, False)]
)
def test_a_disk_may_refuse_to_sync_but_not_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, passes: bool
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(os, "fsync", refuse)
    if passes:
        files.write_json(tmp_path / "a", 1)
        assert files.read_json(tmp_path / "a") == 1
    else:
        with pytest.raises(PubmillError, match="cannot write"):
            files.write_json(tmp_path / "a", 1)
        assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_named_and_folders_may_exist(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for output in (tmp_path / "file/out", tmp_path / "file/below/out"):
        with pytest.raises(PubmillError, match=f"cannot write {output}: {output.parent} is not a folder"):
            files.write_json(output, 1)
    for _ in range(2):
        files.make_folder(tmp_path / "a/b/c")
    assert (tmp_path / "a/b/c").is_dir()


def test_weights_have_the_mode_of_any_new_file(tmp_path: Path) -> None:
    with files.writing_folder(tmp_path / "model") as temporary:
        (temporary / "a").mkdir()
        (temporary / "a/b.safetensors").touch(mode=0o600)
    assert (tmp_path / "model/a/b.safetensors").stat().st_mode & 0o777 == 0o666 & ~umask()
