"""Reading of compressed files in parts."""

import gzip
from pathlib import Path

import pytest

from pubmill.formats.text_files import BoundedGzip


@pytest.mark.parametrize(("size", "content"), [(None, b"aspirin"), (-1, b"aspirin"), (3, b"asp")])
def test_so_many_bytes_are_read_as_are_asked_for(size: int | None, content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file.gz").write_bytes(gzip.compress(b"aspirin"))
    with BoundedGzip(tmp_path / "file.gz") as file:
        assert file.read(size) == content
