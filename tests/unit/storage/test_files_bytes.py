"""Bytes of written files, leftovers of other processes, and file systems that cannot sync folders."""

import errno
import gzip
import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage.files import (
    make_folder,
    read_json,
    read_jsonl_gz,
    sealed,
    temporary_name,
    write_json,
    write_jsonl_gz,
    writing,
    writing_folder,
)


def test_json_is_indented_sorted_and_in_utf_8(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": [1], "a": "é"})
    assert (tmp_path / "a.json").read_bytes() == '{\n  "a": "é",\n  "b": [\n    1\n  ]\n}\n'.encode()


def test_lines_are_sorted_in_utf_8_and_packed_without_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    write_jsonl_gz(path, [{"b": 1, "a": "é"}, {}])
    content = path.read_bytes()
    assert gzip.decompress(content) == '{"a": "é", "b": 1}\n{}\n'.encode()
    assert content[3] == 0 and content[4:8] == bytes(4)  # RFC 1952: no file name, no time
    assert list(read_jsonl_gz(path)) == [{"a": "é", "b": 1}, {}]
    assert path.stat().st_mode & 0o077 == 0o666 & ~umask() & 0o077
    write_jsonl_gz(path, [], private=True)
    assert path.stat().st_mode & 0o777 == 0o600


def umask() -> int:
    before = os.umask(0)
    os.umask(before)
    return before


def test_a_seal_is_the_digest_of_sorted_compact_json(tmp_path: Path) -> None:
    value = {"b": 1, "a": [2, {"d": 0.5, "c": None}]}
    digest = hashlib.sha256(b'{"a":[2,{"c":null,"d":0.5}],"b":1}').hexdigest()
    assert [one for one in sealed(value).values() if one not in value.values()] == [digest]
    write_json(tmp_path / "a", sealed(value))
    assert read_json(tmp_path / "a") == value
    (tmp_path / "a").write_text((tmp_path / "a").read_text().replace("0.5", "0.6"))
    with pytest.raises(PubmillError, match="is damaged: it does not agree with its"):
        read_json(tmp_path / "a")


def leftovers(folder: Path, *processes: int) -> list[Path]:
    """Temporary files of the output `out` as these processes would leave them; one is a folder."""
    own = temporary_name(folder / "out").name
    paths = [folder / own.replace(f".{os.getpid()}.", f".{process}.") for process in processes]
    paths[0].mkdir()
    (paths[0] / "inner").touch()
    for path in paths[1:]:
        path.touch()
    return paths


def test_only_leftovers_of_ended_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    with writing(tmp_path / "out") as temporary:
        temporary.touch()
    assert sorted(tmp_path.iterdir()) == sorted([*paths[2:], other, tmp_path / "out"])


@pytest.mark.parametrize(
    ("number", "passes"), [(errno.EINVAL, True), (errno.EOPNOTSUPP, True), (errno.EIO, False)]
)
def test_a_file_system_may_refuse_to_sync_but_not_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, passes: bool
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(os, "fsync", refuse)
    if passes:
        write_json(tmp_path / "a", 1)
        assert read_json(tmp_path / "a") == 1
    else:
        with pytest.raises(PubmillError, match="cannot write"):
            write_json(tmp_path / "a", 1)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO])
def test_an_output_that_may_not_be_written_says_what_to_do(tmp_path: Path, number: int) -> None:
    with pytest.raises(PubmillError, match="cannot write .*out: ") as caught, writing(tmp_path / "out"):
        raise OSError(number, os.strerror(number))
    assert ("Make its folder writable" in str(caught.value)) == (number != errno.EIO)
    assert os.strerror(number) in str(caught.value) and "Errno" not in str(caught.value)


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for output in (tmp_path / "file/out", tmp_path / "file/below/out"):
        with pytest.raises(PubmillError, match=f"cannot write {output}: {output.parent} is not a folder"):
            write_json(output, 1)


def test_other_errors_stay_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(KeyError), writing(tmp_path / "out"):
        raise KeyError("mine")
    with pytest.raises(PubmillError, match="^mine$"), writing_folder(tmp_path / "out"):
        raise PubmillError("mine")
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_with_their_parents_and_may_exist(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "a/b/c")
    assert (tmp_path / "a/b/c").is_dir()


def test_weights_have_the_mode_of_any_new_file(tmp_path: Path) -> None:
    with writing_folder(tmp_path / "model") as temporary:
        (temporary / "a").mkdir()
        (temporary / "a/b.safetensors").touch(mode=0o600)
    assert (tmp_path / "model/a/b.safetensors").stat().st_mode & 0o777 == 0o666 & ~umask()
