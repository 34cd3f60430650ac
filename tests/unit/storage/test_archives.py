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
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.storage import archives
from pubmill.storage.archives import decode, members

FILES = [
    ("a/one.txt", b"first\n" * 200),
    ("a/empty.txt", b""),
    ("b/two.bin", Random(1).randbytes(3000)),
    ("a/" + "long" * 40 + "/ü.txt", b"last"),
]


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


PACKED: dict[str, Callable[[], bytes]] = {
    "tar": tar,
    "tar.gnu": lambda: tar(form=tarfile.GNU_FORMAT),
    "tar.gz": lambda: gzip.compress(tar(), mtime=0),
    "tar.bz2": lambda: bz2.compress(tar()),
    "tar.xz": lambda: lzma.compress(tar()),
    "zip": zipped,
    "zip.stored": lambda: zipped(method=zipfile.ZIP_STORED),
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def refused(path: Path, content: bytes) -> str:
    """What is said of an archive that must not be read; it always names the archive."""
    path.write_bytes(content)
    with pytest.raises(PubmillError) as caught:
        list(members(path))
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


@pytest.mark.parametrize("kind", PACKED)
def test_every_plain_file_comes_in_the_order_of_the_archive(archive: Path, kind: str) -> None:
    archive.write_bytes(PACKED[kind]())
    assert list(members(archive)) == FILES


def test_a_tar_that_holds_a_zip_is_a_tar(archive: Path) -> None:
    files = [("one", b"1"), ("inner.zip", zipped())]
    archive.write_bytes(tar(files))
    assert list(members(archive)) == files


def test_archives_without_files_have_none(archive: Path) -> None:
    for content in (tar([]), zipped([])):
        archive.write_bytes(content)
        assert list(members(archive)) == []


@pytest.mark.parametrize("pack", [tar, zipped])
def test_names_that_leave_the_folder_are_names_and_nothing_is_written(
    archive: Path, pack: Callable[..., bytes]
) -> None:
    files = [("../above", b"1"), (str(archive.parent / "absolute"), b"2"), ("a/../../b", b"3")]
    archive.write_bytes(pack(files))
    assert [content for _, content in members(archive)] == [b"1", b"2", b"3"]
    assert list(archive.parent.iterdir()) == [archive]


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE],
)
def test_links_devices_and_folders_are_left_out(archive: Path, kind: bytes) -> None:
    (archive.parent / "secret").write_text("not to be read")
    with tarfile.open(archive, "w") as packed:
        for target in ("secret", str(archive.parent / "secret"), "/dev/zero"):
            member = tarfile.TarInfo(target.replace("/", "_"))
            member.type, member.linkname = kind, target
            packed.addfile(member)
        packed.addfile(tarfile.TarInfo("plain"))
    assert list(members(archive)) == [("plain", b"")]


def test_a_link_in_a_zip_is_left_out(archive: Path) -> None:
    with zipfile.ZipFile(archive, "w") as packed:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        packed.writestr(link, "/etc/passwd")
        packed.writestr("folder/", "")
        packed.writestr("plain", "")
    assert list(members(archive)) == [("plain", b"")]


@pytest.mark.parametrize("pack", [tar, zipped])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_there_twice_is_reported(archive: Path, pack: Callable[..., bytes]) -> None:
    assert "one is in it twice" in refused(archive, pack([("one", b"1"), ("two", b"2"), ("one", b"3")]))


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"text\n" * 500, b"PK\3\4" + b"\0" * 600, gzip.compress(b"text", mtime=0)]
)
def test_what_is_no_archive_is_reported(archive: Path, content: bytes) -> None:
    assert "not a whole tar or zip archive" in refused(archive, content)


def test_an_archive_that_is_absent_is_reported(archive: Path) -> None:
    with pytest.raises(PubmillError, match="archive does not exist"):
        list(members(archive))


@pytest.mark.parametrize("kind", PACKED)
@settings(max_examples=60)
@given(data=st.data())
def test_an_archive_cut_anywhere_is_reported_or_nothing_is_missing(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = PACKED[kind]()
    path = tmp_path_factory.getbasetemp() / f"cut.{kind}"
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    try:
        assert list(members(path)) == FILES  # only zeros after the tar's end were cut off
    except PubmillError as error:
        assert str(error).startswith(str(path))


@pytest.mark.parametrize("cut", [512, 1024, 1536])
def test_a_tar_cut_between_members_is_reported(archive: Path, cut: int) -> None:
    """tarfile itself takes such a file for a whole one with fewer members."""
    content = tar([("one", b"1"), ("two", b"2")], tarfile.USTAR_FORMAT)
    assert ("breaks off" if cut != 1024 else "unexpected end") in refused(archive, content[: 512 + cut])


def test_a_tar_with_a_damaged_header_or_something_after_its_end_is_reported(archive: Path) -> None:
    content = bytearray(tar([("one", b"1"), ("two", b"2")], tarfile.USTAR_FORMAT))
    content[1024 + 100] ^= 1
    assert "header within it is damaged" in refused(archive, bytes(content))
    content[1024:1536] = bytes(512)
    assert "something follows its end" in refused(archive, bytes(content))


@pytest.mark.parametrize("pack", [tar, zipped])
def test_a_member_without_a_name_is_reported(archive: Path, pack: Callable[..., bytes]) -> None:
    content = pack([("one", b"1")])
    damaged = content.replace(b"one", b"\0ne") if pack is zipped else pack([("", b"1")])
    assert "a member has no name" in refused(archive, damaged)


@pytest.mark.parametrize("kind", PACKED)
@settings(max_examples=150)
@given(data=st.data())
def test_any_damaged_byte_gives_a_pubmill_error_or_bytes_within_bounds(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Plain tars have no checksum over content, so a changed byte within a member shows nowhere."""
    content = bytearray(PACKED[kind]())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / f"damaged.{kind}"
    path.write_bytes(content)
    try:
        found = list(members(path))
    except PubmillError as error:
        assert str(error).startswith(str(path))
    else:
        assert sum(len(inner) for _, inner in found) <= 10 * sum(len(inner) for _, inner in FILES)
        if kind == "zip":
            assert {inner for _, inner in found} <= {inner for _, inner in FILES}


# What is too large: limits are lowered, so that the tests need no large files.


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_a_member_that_is_too_large_is_reported_by_name(
    archive: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 2999)
    assert "b/two.bin has 3,000 bytes; expected at most 2,999" in refused(archive, PACKED[kind]())


@pytest.mark.parametrize("pack", [lambda files: gzip.compress(tar(files)), zipped])
def test_many_small_members_are_no_way_around_the_limit(
    archive: Path, pack: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", 99_999)
    content = pack([(str(number), bytes(1000)) for number in range(100)])
    assert "it has more than 99,999 bytes when unpacked" in refused(archive, content)


def test_members_without_content_count_for_their_headers(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", 99_999)
    assert "more than 99,999 bytes" in refused(
        archive, gzip.compress(tar([(str(n), b"") for n in range(300)]))
    )


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    "kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME]
)
@pytest.mark.parametrize("size", [10**12, -512, -(10**12), archives.LARGEST_MEMBER + 1])
def test_headers_that_lie_about_sizes_are_reported_and_not_followed(
    archive: Path, kind: bytes, size: int
) -> None:
    refused(archive, header("liar", size, kind) + bytes(2048))
    refused(archive, gzip.compress(header("one", 0) + header("liar", size, kind) + bytes(2048)))


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


def test_the_lying_zip_is_sound_where_it_does_not_lie(archive: Path) -> None:
    archive.write_bytes(lying_zip(10_000_000))
    assert [(name, len(content)) for name, content in members(archive)] == [("liar", 10_000_000)]


@pytest.mark.parametrize("says", [0, 10, 9_999_999, 10_000_001, 150_000_000])
def test_a_zip_member_of_another_size_than_it_says_is_reported(archive: Path, says: int) -> None:
    refused(archive, lying_zip(says))


def test_no_more_is_inflated_than_a_zip_says(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inflated: list[int] = []

    class Watched:
        def __init__(self, bits: int) -> None:
            self.inner = zlib.decompressobj(bits)

        def decompress(self, data: bytes, most: int = 0) -> bytes:
            found = self.inner.decompress(data, most)
            inflated.append(len(found))
            return found

        def __getattr__(self, name: str) -> object:
            return getattr(self.inner, name)

    watching = type("zlib", (), {**vars(zlib), "decompressobj": Watched})
    monkeypatch.setattr(zipfile, "zlib", watching)
    refused(archive, lying_zip(10))
    assert 0 < sum(inflated) <= 4096  # the least that zipfile asks for


def test_an_encrypted_zip_is_reported(archive: Path) -> None:
    assert "liar is encrypted; unlock" in refused(archive, lying_zip(10_000_000, flags=1))


@pytest.mark.parametrize("method", [9, 12, 14, 93, 99])
def test_other_methods_of_packing_are_reported(archive: Path, method: int) -> None:
    """bzip2 and LZMA (12, 14) too: zipfile would unpack them without a bound."""
    assert f"packed by method {method}" in refused(archive, lying_zip(10_000_000, method))


def test_an_error_of_the_reader_stays_its_own(archive: Path) -> None:
    archive.write_bytes(tar())
    with pytest.raises(KeyError):
        for _ in members(archive):
            raise KeyError("mine")


def test_text_that_is_not_utf_8_is_reported_with_its_line() -> None:
    assert decode("α\r\n".encode(), "a.zip:b.txt") == "α\r\n"
    with pytest.raises(PubmillError, match=r"^a\.zip:b\.txt:3: not UTF-8"):
        decode(b"one\n\nthr\xe9e\n", "a.zip:b.txt")
    with pytest.raises(PubmillError, match=r"^a\.zip:b\.txt:2: not UTF-8"):
        decode(b"\none\xe9", "a.zip:b.txt")


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_archives_of_just_the_largest_size_are_read_and_one_byte_more_is_not(
    archive: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tar counts with its headers and padding, a zip by the sizes of its members."""
    archive.write_bytes(PACKED[kind]())
    size = sum(len(content) for _, content in FILES) if kind == "zip" else len(tar())
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", size)
    assert max(len(content) for _, content in members(archive)) == 3000
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", size - 1)
    with pytest.raises(PubmillError, match=f"more than {size - 1:,} bytes when unpacked"):
        list(members(archive))


def test_the_end_of_a_tar_may_be_padded_up_to_a_limit(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = tar([("a b.txt", b"text")])
    zeros = len(content) - 3 * 512  # what follows the header, the text and the first block of zeros
    monkeypatch.setattr(archives, "MOST_PADDING", zeros)
    archive.write_bytes(content)
    assert list(members(archive)) == [("a b.txt", b"text")]
    assert f"more than {zeros:,} bytes follow its end" in refused(archive, content + b"\0")


@pytest.mark.parametrize("pack", [tar, zipped])
def test_names_with_control_characters_are_refused(archive: Path, pack: Callable[..., bytes]) -> None:
    for name in ("a\nb", "\x1fa", "a\tb"):
        assert "control characters" in refused(archive, pack([(name, b"")]))


def test_the_first_character_counts_as_a_line_of_its_own() -> None:
    with pytest.raises(PubmillError, match=r"^a:1: not UTF-8"):
        decode(b"\xff\n\n", "a")
    with pytest.raises(PubmillError, match=r"^a:2: not UTF-8"):
        decode(b"\n\xff\n\n", "a")


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_member_of_just_the_largest_size_is_read(archive: Path, kind: str) -> None:
    archive.write_bytes(PACKED[kind]() if kind == "zip" else tar([("a", bytes(1 << 16))]))
    largest = 3000 if kind == "zip" else 1 << 16
    limits = archives.Limits(largest, 1 << 20)
    assert max(len(content) for _, content in members(archive, limits)) == largest
    with pytest.raises(PubmillError, match=f"has {largest:,} bytes; expected at most {largest - 1:,}"):
        list(members(archive, archives.Limits(largest - 1, 1 << 20)))


def test_a_stream_goes_forward_only() -> None:
    stream = archives._Stream(io.BytesIO(b"abcdef"), 6, 6)
    assert stream.read(4) == stream.last == b"abcd"
    assert (stream.seek(4), stream.seek(5), stream.tell()) == (4, 5, 5)
    with pytest.raises(tarfile.ReadError, match="a header points backwards"):
        stream.seek(4)
    with pytest.raises(tarfile.ReadError, match="unexpected end of data"):
        stream.seek(7)
