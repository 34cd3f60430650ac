"""JSON lines and texts as documents: what is read, and what is refused with its line."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.document_files import JsonLines, TextFile
from pubmill.formats.documents import (
    Annotated,
    FileRelation,
    InputDocument,
    Passage,
    TextMention,
    passages_of,
)
from pubmill.formats.text_files import lines, read_text

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


@pytest.mark.parametrize("annotation", [
    mention(0, 3, "ann"), mention(0, 0, ""), mention(3, 0, ""), mention(-4, -1, "Bob"), mention(-1, 3, ""),
    mention(8, 12, "Bob"), mention("0", 3, "Ann"), mention(0, 3, "Ann", None), mention(0, 3, "Ann", 5),
    {"start": 0, "end": 3, "text": "Ann"}, 5, None, [],
])  # fmt: skip
def test_annotations_elsewhere_are_refused(tmp_path: Path, annotation: Any) -> None:
    with pytest.raises(PubmillError, match=r"in:2: `annotations` must be a list") as caught:
        read(tmp_path, row(), row(mention(0, 3, "Ann"), annotation))
    assert "Ann" not in str(caught.value)


@pytest.mark.parametrize(("line", "message"), [
    ("{", "in:1: not valid JSON"), ("", "in:1: not valid JSON"), ("[1]", "in:1: expected an object"),
    ({"id": 1, "text": ""}, "in:1: a document needs the keys"),
    ({"id": "1"}, "in:1: a document needs"),
    ({"id": "1", "text": "a\ud800"}, "in:1: character 1 of a text is half of a surrogate pair"),
    (row(annotations=5), "in:1: `annotations` must be"),
])  # fmt: skip
def test_other_lines_are_refused(tmp_path: Path, line: Any, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(tmp_path, line)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert list(lines(path)) == [(1, "one"), (2, "two")] and read_text(path) == "one\r\ntwo\n"
    path.write_bytes(b"a\n" * 10_000 + b"\xff")
    for reading in (read_text, lambda path: list(lines(path))):
        with pytest.raises(PubmillError, match=r"in:10001: not UTF-8: invalid start byte; convert it"):
            reading(path)
        with pytest.raises(PubmillError, match="can't be read: No such file"):
            reading(tmp_path / "absent")
    packed = tmp_path / "in.jsonl.gz"
    packed.write_bytes(b"")
    with pytest.raises(PubmillError, match=r"in\.jsonl\.gz: not a whole gzip file after line 0"):
        list(JsonLines(packed).documents())


def made(start: int, end: int, name: str, kind: str = "A", **more: Any) -> TextMention:
    return TextMention(start=start, end=end, type=kind, text=TEXT[start:end], id=name, **more)


def test_a_mention_belongs_to_the_passage_in_which_it_begins() -> None:
    found = [made(0, 3, "1"), made(3, 4, "2"), made(4, 6, "3"), made(6, 7, "4"), made(7, 8, "5")]
    passages = passages_of(["abc", "de", ""], found)
    assert [(one.text, one.offset) for one in passages] == [("abc", 0), ("de", 4), ("", 7)]
    # what begins at a separator, or at an empty text, is in none
    assert [[one.id for one in part.mentions] for part in passages] == [["1"], ["3"], []]


def relation(name: str, kind: str, *arguments: str) -> FileRelation:
    return FileRelation(type=kind, arguments=arguments, source=None, id=name)


def test_replaced_mentions_take_their_relations_along() -> None:
    relations = [
        relation("R1", "a", "1", "2"), relation("R2", "a", "3", "3"), relation("R3", "b", "R1", "3"),
        relation("R4", "b", "R3", "3"), relation("R5", "b", "R2", "3"),
    ]  # fmt: skip
    mentions = [made(0, 3, "1"), made(8, 11, "2", "B"), made(8, 11, "3", "B")]
    document = InputDocument(
        id="7", where="in:1", passages=[Passage(text=TEXT, offset=0, mentions=mentions)], relations=relations
    )
    found = Annotated(document=document, own=frozenset("A"), mentions=[[]])
    assert [found.keeps(one) for one in mentions] == [False, True, True]
    assert [one.id for one in found.kept_relations()] == ["R2", "R5"]
    # where relations are predicted, mentions stay, and relations of the model's types go
    found = Annotated(document=document, own=frozenset("a"))
    assert all(map(found.keeps, mentions)) and found.kept_relations() == []
    found = Annotated(document=document, own=frozenset("b"))
    assert [one.id for one in found.kept_relations()] == ["R1", "R2"]


@pytest.mark.parametrize("name", ["a.b.txt", "a.b.txt.gz"])
def test_a_text_file_is_one_document_with_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(TEXT.encode()) if name.endswith(".gz") else TEXT.encode())
    [document] = TextFile(path).documents()
    assert (document.id, document.where, document.source) == ("a.b", str(path), {"id": "a.b", "text": TEXT})
    assert document.passages == [Passage(text=TEXT, offset=0)]
