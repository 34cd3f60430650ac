"""The canonical archive: every byte counts."""

import gzip
import io
import re
import zipfile
from typing import Any

import numpy as np
import pytest

from pubmill.extras.proof.verifier.container import (
    SUMS,
    RefusedError,
    intact,
    pack,
    read_array,
    read_packed,
    spelled,
    sums,
    unpack,
)

MEMBERS = {"b/ü.txt": b"two", "a": b"", "c.bin": bytes(range(256))}


def sealed() -> bytes:
    return pack({**MEMBERS, SUMS: sums(MEMBERS)})


def test_other_programs_read_it() -> None:
    with zipfile.ZipFile(io.BytesIO(sealed())) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == unpack(sealed())
        for member in archive.infolist():
            assert member.date_time == (1980, 1, 1, 0, 0, 0)
            assert (member.compress_type, member.extract_version, member.extra) == (
                zipfile.ZIP_STORED,
                20,
                b"",
            )


def test_the_list_of_sums_is_that_of_sha256sum() -> None:
    first = sums(MEMBERS).decode().splitlines()[0]
    assert first == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a"
    assert intact(sealed()).keys() == {*MEMBERS, SUMS}


def test_every_other_value_of_every_byte_is_refused() -> None:
    """Headers, names, contents, sums, directory and end: each byte with three other values."""
    data = sealed()
    for place in range(len(data)):
        for bit in (0x01, 0x20, 0x80):
            damaged = bytearray(data)
            damaged[place] ^= bit
            with pytest.raises(RefusedError, match="damaged"):
                intact(bytes(damaged))


@pytest.mark.parametrize(("cut", "before", "after"), [(-1, b"", b""), (None, b"", b"\0"), (None, b"\0", b""),
                                                      (0, b"", b""), (200, b"", b"")])  # fmt: skip
def test_missing_and_additional_bytes_are_refused(cut: int | None, before: bytes, after: bytes) -> None:
    with pytest.raises(RefusedError, match="damaged"):
        intact(before + sealed()[:cut] + after)


def test_members_that_other_programs_wrote_are_refused() -> None:
    """The same members in another container, such as with compression, could hide bytes between them."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**MEMBERS, SUMS: sums(MEMBERS)}.items():
            archive.writestr(name, content)
    with pytest.raises(RefusedError, match="damaged"):
        intact(written.getvalue())


def test_the_refusal_names_the_changed_member() -> None:
    with pytest.raises(RefusedError, match=r"SHA256SUMS does not fit c\.bin"):
        intact(pack({**MEMBERS, "c.bin": b"x", SUMS: sums(MEMBERS)}))
    with pytest.raises(RefusedError, match="SHA256SUMS"):
        intact(pack(MEMBERS))


def test_a_packed_file_has_no_more_values_than_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commas, brackets and braces are counted: one of each here, and a comma for each further value."""
    monkeypatch.setattr("pubmill.extras.proof.verifier.container.MOST_VALUES", 4)
    for value in ({"a": [1, 2]}, {"a": [1, 2, 3]}):
        packed = {"x.json.gz": gzip.compress(spelled(value), mtime=0)}
        assert read_packed(packed, "x.json.gz") == value
    with pytest.raises(RefusedError, match=r"x\.json\.gz has more than 4 values"):
        read_packed({"x.json.gz": gzip.compress(spelled({"a": [1, 2, 3, 4]}), mtime=0)}, "x.json.gz")


def test_a_member_that_is_missing_is_named() -> None:
    with pytest.raises(RefusedError, match=r"^x\.json\.gz is missing$"):
        read_packed({}, "x.json.gz")


@pytest.mark.parametrize("text", [b'{"b":1,"a":2}', b'{"a":1,"a":1}', b'{"a": 1}', b"[1e0]", b'"\\u00fc"'])
def test_json_of_another_spelling_is_refused(text: bytes) -> None:
    message = r"x is not spelled as JSON is here: repeated or unordered keys, blanks or NaN"
    with pytest.raises(RefusedError, match=message):
        read_packed({"x": gzip.compress(text)}, "x")
    assert read_packed({"x": gzip.compress('{"a":"ü","b":1}'.encode())}, "x") == {"a": "ü", "b": 1}


def saved(array: Any, after: bytes = b"") -> dict[str, bytes]:
    file = io.BytesIO()
    np.save(file, array)
    return {"x": gzip.compress(file.getvalue() + after)}


@pytest.mark.parametrize("number", ["|u1", "<u2", "<f8"])
def test_an_array_of_this_shape_is_read(number: str) -> None:
    found = read_array(saved(np.arange(6, dtype=number).reshape(1, 2, 3)), "x", (1, 2, 3))
    assert found.tolist() == [[[0, 1, 2], [3, 4, 5]]]


@pytest.mark.parametrize(
    ("array", "after", "found"),
    [(np.zeros((2, 1, 3), "<u2"), b"", "(2, 1, 3) of uint16"), (np.zeros((1, 2, 3), "<f4"), b"", "float32"),
     (np.zeros((1, 2, 3), "<i8"), b"", "int64"), (np.zeros((1, 2, 3), "|u1"), b"\0", "uint8")],
)  # fmt: skip
def test_an_array_of_another_shape_or_number_or_with_more_after_it_is_refused(
    array: Any, after: bytes, found: str
) -> None:
    message = f"{found}, expected (1, 2, 3): its runs, units and names"
    with pytest.raises(RefusedError, match=re.escape(message)):
        read_array(saved(array, after), "x", (1, 2, 3))
