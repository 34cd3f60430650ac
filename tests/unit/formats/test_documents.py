"""JSON lines and texts as documents: what is read, and what is refused with its line."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.formats import text_files
from pubmill.formats.plain_documents import JsonLines
from pubmill.formats.text_files import read_lines, read_text
from pubmill.prediction.text_units import units

TEXT = "Ann met Bob."


def read(folder: Path, *rows: Any) -> list[Any]:
    path = folder / "in"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return list(JsonLines(path).documents())


def row(*annotations: Any, **more: Any) -> dict[str, Any]:
    return {"id": "1", "text": TEXT, "annotations": list(annotations)} | more


def mention(start: Any, end: Any, text: Any, kind: Any = "Name") -> dict[str, Any]:
    return {"start": start, "end": end, "text": text, "type": kind}


def test_annotations_point_at_their_text(tmp_path: Path) -> None:
    given = [mention(0, 3, "Ann"), mention(8, 11, "Bob", ""), mention(11, 12, "."), mention(0, 12, TEXT)]
    [document] = read(tmp_path, row(*given, note=5))
    [passage] = document.passages
    assert [(m.start, m.end, m.type, m.text, m.source) for m in passage.mentions] == [
        (one["start"], one["end"], one["type"], one["text"], one) for one in given
    ]
    assert (passage.offset, document.source["note"], document.where) == (0, 5, f"{tmp_path}/in:1")
    [bare] = read(tmp_path, {"id": "2", "text": ""})
    assert bare.passages[0].mentions == []


@pytest.mark.parametrize(
    "annotation",
    [
        mention(0, 3, "ann"), mention(0, 0, ""), mention(3, 0, ""), mention(-4, -1, "Bob"),
        mention(-1, 3, ""), mention(8, 12, "Bob"), mention("0", 3, "Ann"), mention(0, 3, "Ann", None),
        mention(0, 3, "Ann", 5),
        {"start": 0, "end": 3, "text": "Ann"}, 5, None, [],
    ],
)  # fmt: skip
def test_annotations_elsewhere_are_refused(tmp_path: Path, annotation: Any) -> None:
    with pytest.raises(PubmillError, match=r"in:2: `annotations` must be a list") as caught:
        read(tmp_path, row(), row(mention(0, 3, "Ann"), annotation))
    assert "Ann" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "in:1: not valid JSON"), ("", "in:1: not valid JSON"), ("[1]", "in:1: expected an object"),
        ("[" * 100_000, "in:1: nested too deeply"), ('{"a": ' + "9" * 5000 + "}", "in:1: nested too deeply"),
        ({"id": 1, "text": ""}, "in:1: a document needs the keys"), ({"id": "1"}, "in:1: a document needs"),
        ({"id": "1", "text": "a\ud800"}, "in:1: character 1 of a text is half of a surrogate pair"),
        (row(annotations=5), "in:1: `annotations` must be"),
    ],
)  # fmt: skip
def test_other_lines_are_refused(tmp_path: Path, line: Any, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(tmp_path, line)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert list(read_lines(path)) == ["one", "two"] and read_text(path) == "one\r\ntwo\n"
    path.write_bytes(b"a\n" * 10_000 + b"\xff")
    with pytest.raises(PubmillError, match=r"in: not UTF-8 after line \d+ \(invalid start byte\)"):
        list(read_lines(path))
    with pytest.raises(PubmillError, match=r"in:10001: not UTF-8: invalid start byte"):
        read_text(path)
    for reading in (read_text, lambda path: list(read_lines(path))):
        with pytest.raises(PubmillError, match="can't be read: No such file"):
            reading(tmp_path / "absent")


@pytest.mark.parametrize("split", [None, lambda line: [part for part in line.split("  ") if part]])
def test_units_are_lines_or_sentences_with_a_word_and_keep_their_offsets(tmp_path: Path, split: Any) -> None:
    [document] = read(tmp_path, {"id": "1", "text": "\nAnn  Bob\r\n  \nAnn  Ann"})
    found = list(units(document, split))
    parts = [(1, "Ann  Bob"), (14, "Ann  Ann")]
    if split:
        parts = [(1, "Ann"), (6, "Bob"), (14, "Ann"), (19, "Ann")]
    assert [(one.start, one.text) for one in found] == parts
    assert all(document.passages[0].text[one.start : one.end] == one.text for one in found)


def test_repeated_keys_and_empty_gzip_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": "1", "text": "a", "text": "b"}\n')
    with pytest.raises(PubmillError, match=r"in\.jsonl:1: the key text occurs twice"):
        list(JsonLines(path).documents())
    packed = tmp_path / "in.jsonl.gz"
    packed.write_bytes(b"")
    with pytest.raises(PubmillError, match=r"in\.jsonl\.gz: not a whole gzip file after line 0"):
        list(JsonLines(packed).documents())


@pytest.mark.parametrize("name", ["in.jsonl.gz", "in.txt.gz"])
@pytest.mark.parametrize("content", [b"x" * 20_000_000, b"x\n" * 10_000_000], ids=["one line", "lines"])
def test_a_gzip_bomb_is_refused_before_it_takes_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    monkeypatch.setattr(text_files, "LARGEST", 1_000_000)
    packed = tmp_path / name
    packed.write_bytes(gzip.compress(content, 1))
    tracemalloc.start()
    try:
        for read in (read_text, lambda path: list(read_lines(path))):
            with pytest.raises(PubmillError, match=r"unpacks to more than 1,000,000 bytes; split it"):
                read(packed)
        assert tracemalloc.get_traced_memory()[1] < 80_000_000
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(text_files, "LARGEST", len(content))
    assert len(read_text(packed)) == len(content)
