"""Digests of files are right after any change, and computed once without one."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from pubmill.stages import availability as digests
from pubmill.stages.availability import Digests


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as settled."""
    monkeypatch.setattr(digests, "SETTLED", -1.0)
    path = tmp_path / "own files" / "a.tsv"
    path.parent.mkdir()
    path.write_bytes(b"one")
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read to be hashed."""
    paths: list[Path] = []

    def counted(path: Path) -> str:
        paths.append(path)
        return sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(digests, "sha256", counted)
    return paths


def test_a_file_is_hashed_once_also_by_later_processes(file: Path, tmp_path: Path, read: list[Path]) -> None:
    store = tmp_path / "results/.digests.jsonl"
    for _ in range(3):
        assert Digests(store).of(file) == sha256(b"one").hexdigest()
    assert read == [file]
    assert store.stat().st_mode & 0o077 == 0


def test_content_that_changes_is_seen_even_with_the_old_size_and_time(
    file: Path, tmp_path: Path, read: list[Path]
) -> None:
    made, before = Digests(tmp_path / "store"), file.stat()
    made.of(file)
    file.write_bytes(b"two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert made.of(file) == sha256(b"two").hexdigest() == Digests(tmp_path / "store").of(file)
    assert len(read) == 2


def test_a_file_that_has_just_changed_is_hashed_again(
    file: Path, tmp_path: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SETTLED", 3600.0)
    for _ in range(2):
        Digests(tmp_path / "store").of(file)
    assert len(read) == 2 and not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "content", ["", "\n{\n[]\n", '["a", 1', '["a", 1, 2, 3, 4, 5]\nnull\n"x"\n', "\udcff",
     '[[1], 2, 3, 4, "5"]', '"abcde"', "[" * 100_000],
)  # fmt: skip
def test_a_damaged_store_costs_time_alone(file: Path, tmp_path: Path, read: list[Path], content: str) -> None:
    store = tmp_path / "store"
    store.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert Digests(store).of(file) == sha256(b"one").hexdigest()


def test_a_store_that_cannot_be_written_costs_time_alone(file: Path, tmp_path: Path) -> None:
    (tmp_path / "results").write_text("no folder")
    assert Digests(tmp_path / "results/store").of(file) == sha256(b"one").hexdigest()


def test_a_folder_is_known_by_names_and_contents(file: Path, tmp_path: Path) -> None:
    made = Digests(tmp_path / "store")
    assert made.of_folder(file.parent) == {"a.tsv": sha256(b"one").hexdigest()}
    (file.parent / "b").mkdir()
    (file.parent / "b/c").touch()
    assert list(made.of_folder(file.parent)) == ["a.tsv"]
    assert list(made.of_folder(file.parent, "**/*")) == ["a.tsv", "b/c"]
