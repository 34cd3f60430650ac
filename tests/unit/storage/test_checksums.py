"""Digests of downloaded files: SHA-256, ids of git blobs, and the md5 files of PubMed's server."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage import sources
from pubmill.storage.sources import check, download, published_md5
from tests.unit.storage.mirrored import BODY, GIT_BLOB, MD5, SHA256, URL, make_mirror, names

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    return make_mirror(tmp_path)


def test_the_id_of_a_git_blob_is_that_of_git(tmp_path: Path) -> None:
    """The id that `git hash-object` gives a file that holds `hello` and a line feed."""
    (tmp_path / "in").write_bytes(b"hello\n")
    blob = "ce013625030ba8dba906f756967f9e9ca394464a"
    download(f"file://{tmp_path}/in", tmp_path / "out", git_blob=blob.upper())
    assert json.loads((tmp_path / "out.source.json").read_text())["git_blob"] == blob


def test_a_file_that_is_another_blob_is_refused(mirror: Path, tmp_path: Path) -> None:
    damaged = BODY[:-1] + b"?"
    (mirror / "ftp.example.org/pubmed/baseline/f.gz").write_bytes(damaged)
    found = hashlib.sha1(b"blob %d\0" % len(damaged) + damaged).hexdigest()
    with pytest.raises(PubmillError, match=f"git_blob: expected {GIT_BLOB}, found {found}"):
        download(URL, tmp_path / "out" / "f.gz", mirror=str(mirror), git_blob=GIT_BLOB)
    assert names(tmp_path / "out") == []


def test_the_program_checks_a_git_blob(mirror: Path, tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "scripts" / "download.py"), "--url", URL, "--mirror", str(mirror)]
    output = tmp_path / "f.gz"
    for blob, status in ((GIT_BLOB, 0), (GIT_BLOB[::-1], 1)):
        command = [*script, "--output", str(output), "--git-blob", blob]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status and output.exists() is (status == 0)
        assert status == 0 or f"git_blob: expected {blob}, found {GIT_BLOB}" in done.stderr
        output.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ({}, None),
        ({"sha256": SHA256, "git_blob": GIT_BLOB}, None),
        ({"git_blob": "0" * 40}, f"git_blob: expected {'0' * 40}, found {GIT_BLOB}"),
        ({"sha256": "0" * 64}, f"sha256: expected {'0' * 64}, found {SHA256}"),
    ],
)
def test_a_copy_can_be_checked_where_it_lies(
    mirror: Path, expected: dict[str, str], said: str | None
) -> None:
    path = mirror / "ftp.example.org/pubmed/baseline/f.gz"
    if said is None:
        return check(URL, path, expected)
    with pytest.raises(PubmillError, match=said):
        check(URL, path, expected)


@pytest.mark.parametrize("form", ["MD5({1})= {0}", "MD5 ({1}) = {0}\n", "{0}  {1}", "{0} *./{1}\n"])
def test_md5_files_in_every_form(form: str) -> None:
    assert published_md5(form.format(MD5.upper(), "f.gz").encode(), "f.gz", "URL") == MD5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "expected one line"),
        (b"<html>gone</html>", "expected one line"),
        (f"MD5(g.gz)= {MD5}".encode(), "found that of g.gz"),
        (f"MD5(f.gz)= {MD5[:-1]}".encode(), "expected one line"),
    ],
)
def test_md5_files_that_say_something_else(text: bytes, said: str) -> None:
    with pytest.raises(PubmillError, match=said):
        published_md5(text, "f.gz", "URL")


def test_digests_do_not_depend_on_the_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "CHUNK", 1000)
    (tmp_path / "in").write_bytes(BODY)
    download(f"file://{tmp_path}/in", tmp_path / "out", sha256=SHA256)
