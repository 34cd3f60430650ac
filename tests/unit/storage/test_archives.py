"""Archives are read without unpacking and completely: hostile, damaged and truncated ones are refused."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.storage import archives
from pubmill.storage.archives import Limits, decode, members, unpack_model
from tests.world import archives as world_archives

FILES = [
    ("a/one.txt", b"first\n" * 200), ("a/empty.txt", b""), ("b/two.bin", Random(1).randbytes(3000)),
    ("a/" + "long" * 40 + "/ü.txt", b"last"),
]  # fmt: skip
MODEL = {"config.json": b"{}", "pytorch_model.bin": b"weights", "vocab.json": b"v", "merges.txt": b"m"}


def tar(files: list[tuple[str, bytes]] = FILES, form: int = tarfile.PAX_FORMAT) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=form) as packed:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return target.getvalue()


def zipped(files: list[tuple[str, bytes]] = FILES, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as packed:
        for name, content in files:
            packed.writestr(name, content)
    return target.getvalue()


def lying_zip(says: int, method: int = zipfile.ZIP_DEFLATED, flags: int = 0) -> bytes:
    """One member of ten million zeros whose headers say that it has another size."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = bytes(10_000_000)
    packed = packer.compress(content) + packer.flush()
    common = struct.pack(
        "<HHHHHIIIHH", 20, flags, method, 0, 33, zlib.crc32(content), len(packed), says, 4, 0
    )
    local = b"PK\3\4" + common + b"liar"
    central = b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"liar"
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local) + len(packed), 0)
    return local + packed + central + end


PACKED: dict[str, Callable[[], bytes]] = {
    "tar": tar, "tar.gnu": lambda: tar(form=tarfile.GNU_FORMAT),
    "tar.gz": lambda: gzip.compress(tar(), mtime=0), "tar.bz2": lambda: bz2.compress(tar()),
    "tar.xz": lambda: lzma.compress(tar()), "zip": zipped,
    "zip.stored": lambda: zipped(method=zipfile.ZIP_STORED),
}  # fmt: skip


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def refused(path: Path, content: bytes, limits: Limits | None = None) -> str:
    """What is said of an archive that must not be read; it always names the archive."""
    path.write_bytes(content)
    with pytest.raises(PubmillError) as caught:
        list(members(path, limits))
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


@pytest.mark.parametrize("kind", PACKED)
def test_every_plain_file_comes_in_the_order_of_the_archive(archive: Path, kind: str) -> None:
    archive.write_bytes(PACKED[kind]())
    assert list(members(archive)) == FILES


def test_archives_may_have_no_files_or_others_as_such_and_links_are_left_out(archive: Path) -> None:
    files = [("one", b"1"), ("inner.zip", zipped())]
    archive.write_bytes(tar(files))
    assert list(members(archive)) == files
    for content in (tar([]), zipped([])):
        archive.write_bytes(content)
        assert list(members(archive)) == []
    archive.write_bytes(lying_zip(10_000_000))
    assert [(name, len(content)) for name, content in members(archive)] == [("liar", 10_000_000)]
    with zipfile.ZipFile(archive, "w") as packed:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        packed.writestr(link, "/etc/passwd")
        packed.writestr("folder/", "")
        packed.writestr("plain", "")
    assert list(members(archive)) == [("plain", b"")]


@pytest.mark.parametrize("pack", [tar, zipped])
def test_names_that_leave_the_folder_write_nothing(archive: Path, pack: Callable[..., bytes]) -> None:
    files = [("../above", b"1"), (str(archive.parent / "absolute"), b"2"), ("a/../../b", b"3")]
    archive.write_bytes(pack(files))
    assert [content for _, content in members(archive)] == [b"1", b"2", b"3"]
    assert list(archive.parent.iterdir()) == [archive]


@pytest.mark.parametrize("kind", [
    tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE,
])  # fmt: skip
def test_links_devices_and_folders_are_left_out(archive: Path, kind: bytes) -> None:
    (archive.parent / "secret").write_text("not to be read")
    with tarfile.open(archive, "w") as packed:
        for target in ("secret", str(archive.parent / "secret"), "/dev/zero"):
            member = tarfile.TarInfo(target.replace("/", "_"))
            member.type, member.linkname = kind, target
            packed.addfile(member)
        packed.addfile(tarfile.TarInfo("plain"))
    assert list(members(archive)) == [("plain", b"")]


USTAR = tar([("one", b"1"), ("two", b"2")], tarfile.USTAR_FORMAT)
TWICE = [("one", b"1"), ("two", b"2"), ("one", b"3")]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("make, fault", [
    (lambda: tar(TWICE), "one is in it twice"),
    (lambda: zipped(TWICE), "one is in it twice"),
    *((partial(bytes, content), "not a whole tar or zip archive") for content in (
        b"", b"\n", b"text\n" * 500, b"PK\3\4" + b"\0" * 600, gzip.compress(b"text", mtime=0),
    )),
    # tarfile itself takes these for whole archives with fewer members
    (lambda: USTAR[:1024], "breaks off"),
    (lambda: USTAR[:1536], "unexpected end"),
    (lambda: USTAR[:2048], "breaks off"),
    (lambda: USTAR[:1124] + b"?" + USTAR[1125:], "header within it is damaged"),
    (lambda: USTAR[:1024] + bytes(512) + USTAR[1536:], "something follows its end"),
    (lambda: tar([("", b"1")]), "a member has no name"),
    (lambda: zipped([("one", b"1")]).replace(b"one", b"\0ne"), "a member has no name"),
    *(
        (partial(pack, [(name, b"")]), "control characters")
        for pack in (tar, zipped)
        for name in ("a\nb", "\x1fa", "a\tb")
    ),
    (lambda: lying_zip(10_000_000, flags=1), "liar is encrypted; unlock"),
    # bzip2 and LZMA (12, 14) too: zipfile would unpack them without a bound
    *(
        (partial(lying_zip, 10_000_000, method), f"packed by method {method}")
        for method in (9, 12, 14, 93, 99)
    ),
    *((partial(lying_zip, says), "") for says in (0, 9_999_999, 10_000_001, 150_000_000)),
])  # fmt: skip
def test_what_is_not_whole_is_refused(archive: Path, make: Callable[[], bytes], fault: str) -> None:
    assert fault in refused(archive, make())


def test_an_absent_archive_is_reported_and_errors_of_the_reader_stay_its_own(archive: Path) -> None:
    with pytest.raises(PubmillError, match="archive does not exist"):
        list(members(archive))
    archive.write_bytes(tar())
    with pytest.raises(KeyError):
        for _ in members(archive):
            raise KeyError("mine")


@pytest.mark.parametrize("kind", PACKED)
@settings(max_examples=30)
@given(data=st.data())
def test_a_cut_archive_is_reported_or_whole(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = PACKED[kind]()
    path = tmp_path_factory.getbasetemp() / f"cut.{kind}"
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    try:
        assert list(members(path)) == FILES  # only zeros after the tar's end were cut off
    except PubmillError as error:
        assert str(error).startswith(str(path))


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    "kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME]
)
@pytest.mark.parametrize("size", [10**12, -512, -(10**12), archives.LARGEST_MEMBER + 1])
def test_sizes_that_lie_are_not_followed(archive: Path, kind: bytes, size: int) -> None:
    refused(archive, header("liar", size, kind) + bytes(2048))
    refused(archive, gzip.compress(header("one", 0) + header("liar", size, kind) + bytes(2048)))


def test_text_that_is_not_utf_8_is_reported_with_its_line() -> None:
    assert decode("α\r\n".encode(), "a.zip:b.txt") == "α\r\n"
    for content, line in ((b"one\n\nthr\xe9e\n", 3), (b"\none\xe9", 2), (b"\xff\n\n", 1), (b"\n\xff\n\n", 2)):
        with pytest.raises(PubmillError, match=rf"^a\.zip:b\.txt:{line}: not UTF-8"):
            decode(content, "a.zip:b.txt")


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_archives_up_to_the_largest_size_are_read(archive: Path, kind: str) -> None:
    """A tar counts with its headers and padding, a zip by the sizes of its members."""
    content = PACKED[kind]()
    size = sum(len(one) for _, one in FILES) if kind == "zip" else len(tar())
    archive.write_bytes(content)
    assert list(members(archive, Limits(1 << 20, size))) == FILES
    fault = refused(archive, content, Limits(1 << 20, size - 1))
    assert f"more than {size - 1:,} bytes when unpacked" in fault


@pytest.mark.parametrize(
    ("make", "largest"), [(lambda: tar([("a", bytes(1 << 16))]), 1 << 16), (zipped, 3000)]
)
def test_members_up_to_the_largest_size_are_read(
    archive: Path, make: Callable[[], bytes], largest: int
) -> None:
    archive.write_bytes(make())
    assert max(len(content) for _, content in members(archive, Limits(largest, 1 << 20))) == largest
    fault = refused(archive, make(), Limits(largest - 1, 1 << 20))
    assert f"has {largest:,} bytes; expected at most {largest - 1:,}" in fault


def test_the_end_of_a_tar_may_be_padded_up_to_a_limit(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = tar([("a b.txt", b"text")])
    zeros = len(content) - 3 * 512  # what follows the header, the text and the first block of zeros
    monkeypatch.setattr(archives, "MOST_PADDING", zeros)
    archive.write_bytes(content)
    assert list(members(archive)) == [("a b.txt", b"text")]
    assert f"more than {zeros:,} bytes follow its end" in refused(archive, content + b"\0")


def unpacked(folder: Path, content: bytes) -> dict[str, bytes]:
    (folder / "a.tar.gz").write_bytes(content)
    (folder / "work").mkdir()
    unpack_model(folder / "a.tar.gz", folder / "work/model")
    return {path.name: path.read_bytes() for path in (folder / "work/model").iterdir()}


@pytest.mark.parametrize("pack", [world_archives.tarball, world_archives.zipped])
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


@pytest.mark.parametrize(("files", "found"), [
    ({"a/weights.pt": b"", "a/dict.txt": b""}, "none"),
    ({"a/config.json": b"", "b/config.json": b""}, "a, b"),
])  # fmt: skip
def test_an_archive_has_one_model(tmp_path: Path, files: dict[str, bytes], found: str) -> None:
    with pytest.raises(PubmillError, match=rf"a\.tar\.gz: expected one folder .* found {found};.*fairseq"):
        unpacked(tmp_path, world_archives.tarball(files))


def test_an_archive_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "WEIGHTS", Limits(member=6, archive=10_000))
    with pytest.raises(PubmillError, match=r"pytorch_model\.bin has 7 bytes; expected at most 6"):
        unpacked(tmp_path, world_archives.tarball(MODEL))
