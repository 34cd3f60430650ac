"""Model folders in archives: found at any depth, and nothing leaves the folder that is written."""

import io
import tarfile
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage import archives
from pubmill.storage.archives import Limits, unpack_model
from tests.world.archives import tarball, zipped

MODEL = {"config.json": b"{}", "pytorch_model.bin": b"weights", "vocab.json": b"v", "merges.txt": b"m"}


def unpacked(folder: Path, content: bytes) -> dict[str, bytes]:
    (folder / "a.tar.gz").write_bytes(content)
    (folder / "work").mkdir()
    unpack_model(folder / "a.tar.gz", folder / "work/model")
    return {path.name: path.read_bytes() for path in (folder / "work/model").iterdir()}


@pytest.mark.parametrize("pack", [tarball, zipped])
@pytest.mark.parametrize("inside", ["", "m/", "./m/", "RoBERTa-base/RoBERTa-base-hf/"])
def test_the_folder_of_a_model_is_found_at_any_depth(tmp_path: Path, pack: object, inside: str) -> None:
    others = {"README.txt": b"of the archive", "other/vocab.json": b"of another"} if inside else {}
    code = {f"{inside}modeling.py": b"raise SystemExit", f"{inside}optimizer.pt": b"no"}
    files = others | {f"{inside}{name}": content for name, content in MODEL.items()} | code
    assert unpacked(tmp_path, pack(files)) == MODEL  # type: ignore[operator]


def test_names_in_an_archive_are_no_paths(tmp_path: Path) -> None:
    """Whatever the names say, all files are written below the folder, and links are left out."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        outside = ("../../config.json", "/etc/pubmill/vocab.txt", "../../../x/README.md")
        for name in (*outside, "m/" + "a" * 300 + ".json"):
            entry = tarfile.TarInfo(name)
            entry.size = 2
            tar.addfile(entry, io.BytesIO(b"{}"))
        link = tarfile.TarInfo("../../model.safetensors")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert unpacked(tmp_path, packed.getvalue()) == {"config.json": b"{}"}
    assert {path.name for path in tmp_path.iterdir()} == {"a.tar.gz", "work"}
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
    assert not Path("/etc/pubmill").exists()


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"a/weights.pt": b"", "a/dict.txt": b""}, "none"),
        ({"a/config.json": b"", "b/config.json": b""}, "a, b"),
    ],
)
def test_an_archive_has_one_model(tmp_path: Path, files: dict[str, bytes], found: str) -> None:
    with pytest.raises(PubmillError, match=rf"a\.tar\.gz: expected one folder .* found {found};.*fairseq"):
        unpacked(tmp_path, tarball(files))


def test_an_archive_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "WEIGHTS", Limits(member=6, archive=10_000))
    with pytest.raises(PubmillError, match=r"pytorch_model\.bin has 7 bytes; expected at most 6"):
        unpacked(tmp_path, tarball(MODEL))
