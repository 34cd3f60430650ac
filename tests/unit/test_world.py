"""The miniature world: the same everywhere, in the original formats, with what tests rely on."""

import gzip
import io
import runpy
import sys
import tarfile
import zipfile
from hashlib import md5, sha256
from pathlib import Path

import pytest

from pubmill.stages.availability import local_names
from tests.conftest import ROOT
from tests.dataset_specs import spec_of
from tests.world import OVERLAY, VERSION, dataset_files, dataset_names, overlay, write_world
from tests.world.__main__ import HEADING, written_out
from tests.world.part import CANARY

DIGESTS = {7: "624f4b04fc21e9e7ed028a8bb6f0cd64e6be291ea6b197202d18799eb02cda9e"}
"""The digest of each version's files: after a change of the content, `VERSION` must be increased."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    assert write_world(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_a_versions_content_never_changes(world: Path) -> None:
    digest = sha256()
    for path, content in sorted(contents(world).items()):
        if path.endswith(".xml.gz"):
            content = gzip.decompress(content)  # gzip's bytes depend on the version of zlib
        if path.endswith(".md5"):
            packed = (world / path).with_suffix("").read_bytes()
            content = content.replace(md5(packed).hexdigest().encode(), b"")
        digest.update(path.encode() + b"\0" + content)
    assert digest.hexdigest() == DIGESTS[VERSION]


def test_an_older_or_interrupted_world_is_written_anew_with_the_same_bytes(
    world: Path, tmp_path: Path
) -> None:
    for path in contents(world):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    (tmp_path / "world.json").write_text('{"version": 0}')
    assert write_world(tmp_path) and not write_world(tmp_path)
    assert contents(tmp_path) == contents(world)


def test_the_demo_scale_has_this_worlds_hashes() -> None:
    written = OVERLAY.read_text(encoding="utf-8")
    assert written == HEADING + written_out(overlay()), "write it anew: see python -m tests.world --help"


def test_licensed_files_carry_the_canary_and_public_ones_do_not() -> None:
    specs = [spec_of(name) for name in dataset_names()]
    keys = {key for spec in specs if spec.access != "public" for key in local_names(spec)}
    assert len(keys) > 3
    for path, content in dataset_files().items():
        held = any(CANARY.lower().encode() in text.lower() for text in texts_of(path, content))
        assert held == any(path.startswith(f"local/{key}/") for key in keys), path


def texts_of(path: str, content: bytes) -> list[bytes]:
    """The content of a file, or of an archive's members."""
    if path.endswith((".tar.gz", ".tgz")):
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            return [tar.extractfile(member).read() for member in tar if member.isfile()]  # type: ignore[union-attr]
    if path.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            return [packed.read(name) for name in packed.namelist()]
    return [content]


def test_a_folder_that_cannot_be_written_ends_the_program_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "argv", ["tests.world", str(tmp_path / "file/mirror")])
    with pytest.raises(SystemExit, match="file/mirror.*: Not a directory. Correct this"):
        runpy.run_path(str(ROOT / "tests/world/__main__.py"), run_name="__main__")
