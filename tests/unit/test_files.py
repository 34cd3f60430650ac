"""Outputs are whole or absent."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.files import lock, locked, read_json, write_json, write_jsonl_gz, writing, writing_folder


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
        from pubmill.files import writing
        with writing(Path({str(tmp_path)!r}) / "out") as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    root = Path(__file__).resolve().parents[2]
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


def test_malformed_json_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{\n "a": 1,\n}')
    with pytest.raises(PubmillError, match=r"x\.json:3: not valid JSON"):
        read_json(tmp_path / "x.json")


def test_a_lock_is_held_once_and_freed_when_its_holder_is_killed(tmp_path: Path) -> None:
    held = lock(tmp_path / "lock")
    with pytest.raises(PubmillError, match="another process is at work here"):
        lock(tmp_path / "lock")
    held.close()
    lock(tmp_path / "lock").close()
    child = os.fork()
    if child == 0:
        lock(tmp_path / "lock")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    lock(tmp_path / "lock").close()


def test_a_lock_that_was_removed_while_waiting_is_not_mistaken_for_held(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path):
        with pytest.raises(PubmillError, match="another process is at work here"):
            lock(path)
    assert not path.exists()
    with locked(path):
        assert path.exists()
