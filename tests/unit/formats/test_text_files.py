"""Reading of text files and of compressed ones in parts, up to a size."""

import gzip
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.formats import text_files
from pubmill.formats.text_files import BoundedGzip, check_characters, lines, read_text


@pytest.mark.parametrize(("size", "content"), [(None, b"aspirin"), (-1, b"aspirin"), (3, b"asp")])
def test_so_many_bytes_are_read_as_are_asked_for(size: int | None, content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file.gz").write_bytes(gzip.compress(b"aspirin"))
    with BoundedGzip(tmp_path / "file.gz") as file:
        assert file.read(size) == content


@pytest.mark.parametrize("packed", [False, True])
def test_a_text_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    path = tmp_path / "in.txt"
    text = b"aspirin\n" * 1000
    path.write_bytes(gzip.compress(text) if packed else text)  # gzip is known by its first bytes
    monkeypatch.setattr(text_files, "LARGEST", len(text))
    assert read_text(path).encode() == text
    assert [line for _, line in lines(path)] == ["aspirin"] * 1000
    monkeypatch.setattr(text_files, "LARGEST", len(text) - 1)
    with pytest.raises(PubmillError) as caught:
        list(lines(path)) if packed else read_text(path)
    said = "unpacks to more than" if packed else "more than"
    assert str(caught.value) == f"{path}: {said} 7,999 bytes; split it into several"


def test_a_huge_or_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "in.gz"
    path.write_bytes(gzip.compress(b"a\nb\n")[:-4])
    for reading in (read_text, lambda path: list(lines(path))):
        with pytest.raises(PubmillError, match=r"in\.gz: not a whole gzip file.*; make it again$"):
            reading(path)
    huge = tmp_path / "in.txt"
    with huge.open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(PubmillError) as caught:
        read_text(huge)
    assert str(caught.value) == f"{huge}: more than 1,073,741,824 bytes; split it into several"


def test_a_half_of_a_surrogate_pair_is_named_by_its_place() -> None:
    assert check_characters("é\U0001f600", "in:1") == "é\U0001f600"
    with pytest.raises(PubmillError) as caught:
        check_characters("ab\udc00", "in:1")
    assert str(caught.value) == "in:1: character 2 of a text is half of a surrogate pair; correct it"
