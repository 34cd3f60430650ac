"""brat's standoff form: mentions, relations, events and concepts, and what a wrong file says."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.brat import read_documents
from pubmill.formats.document_files import annotated_documents
from pubmill.formats.documents import FileRelation, InputDocument, TextMention
from pubmill.formats.offsets import USUAL, Offsets

TEXT = "Fever and chest pain.\n"


def read(annotations: str, text: str = TEXT, offsets: Offsets = USUAL) -> InputDocument:
    [found] = read_documents({"sub/a.txt": text, "sub/a.ann": annotations}, "in.zip", offsets)
    return found


def test_annotations_of_all_files_of_a_text_are_read() -> None:
    files = {
        "sub/a.txt": TEXT,
        "sub/a.a1": "T1\tSign 0 5\tFever\r\n\nT2\tSite 10 15\tchest\n#1\tNote T1\tunclear\nA1\tSure T1\n"
        "*\tEquiv T1 T2\n",
        "sub/a.a2": "R1\tAt Arg1:T1 Arg2:T2\nE1\tOnset:T1 Of:T2\nE2\tEnd:T1 \nM1\tGuess E1\n",
    }
    [found] = read_documents(files, "in.zip")
    [passage] = found.passages
    assert (found.id, found.where, passage.text, passage.offset) == ("a", "in.zip:sub/a.txt", TEXT, 0)
    assert passage.mentions == [
        TextMention(start=0, end=5, type="Sign", text="Fever", id="T1", source="Sign 0 5"),
        TextMention(start=10, end=15, type="Site", text="chest", id="T2", source="Site 10 15"),
    ]
    assert found.relations == [
        FileRelation(type="At", arguments=("T1", "T2"), source="At Arg1:T1 Arg2:T2", id="R1")
    ]
    assert (found.events, found.misplaced) == (("Onset", "End"), ())


def test_mentions_of_several_pieces_events_and_concepts_are_read() -> None:
    [one] = read("T1\tSign 16 20;0 5\tpain Fever\n").passages[0].mentions
    assert (one.start, one.end, one.text) == (0, 20, "Fever and chest pain")
    assert one.spans == ((0, 5), (16, 20))
    [one] = read("T1\tSign 0 5;16 20\tFever  pain\n").passages[0].mentions  # white space may differ
    assert one.spans == ((0, 5), (16, 20))
    [one] = read("T1\tSign 16 22\tpain.\n").passages[0].mentions
    assert one.text == "pain.\n"
    found = read(
        "T1\tSign 0 5\tFever\nE1\tOnset:T1 Cause:E2 Site2:R1\nE2\tEnd:T1  At:T1\nR1\tAfter Arg1:E1 Arg2:T1\n"
    )
    assert found.events == ("Onset", "End", "After (a relation of events)") and not found.relations
    concepts = "N1\tReference T1 MESH:D1\tFever\nN2\tReference T1 D2\n"
    one, other = read(f"T1\tSign 0 5\tFever\nT2\tSign 16 20\tpain\n{concepts}").passages[0].mentions
    assert (one.concepts, other.concepts) == ("MESH:D1,D2", "")


@pytest.mark.parametrize("line", ["T1\tSign 0 5\tfever", "T1\tSign 16 23\tpain.", "T1\tSign 0 5\t"])
def test_a_mention_that_differs_from_its_text_is_an_error_or_counted(line: str) -> None:
    with pytest.raises(PubmillError) as caught:
        read(f"\n{line}\n")
    assert (
        "in.zip:sub/a.ann:2: the text of T1 differs from that at its offsets, which must count characters of "
        "the .txt file, not bytes; it says "
    ) in str(caught.value)
    found = read(
        f"{line}\n{line.replace('T1', 'T2')}\nT3\tSign 0 5\tFever\n", offsets=Offsets(leave_out=True)
    )
    assert len(found.misplaced) == 2 and [one.id for one in found.passages[0].mentions] == ["T3"]


@pytest.mark.parametrize(("line", "expected"), [
    ("T1\tSign 0\tFever", "Type start end[;start end]"), ("R1\tAt Arg1:T1", "Type Arg1:T1 Arg2:T2"),
    ("E1\tOnset", "Type:T1 Role:T2 ..."), ("N1\tReference T1", "Reference T1 RID"),
    ("X1\tSign 0 5", "T1<tab>..."), ("T1 Sign 0 5", "T1<tab>..."),
])  # fmt: skip
def test_lines_of_another_form_are_named(line: str, expected: str) -> None:
    with pytest.raises(PubmillError) as caught:
        read(f"T9\tSign 0 5\tFever\n{line}\n")
    found = line if expected == "T1<tab>..." else line.split("\t")[1]
    assert str(caught.value) == f"in.zip:sub/a.ann:2: expected `{expected}`, found {found!r}"


def test_offsets_that_cover_nothing_and_repeated_identifiers_are_refused() -> None:
    for offsets in ("5 5", "7 6", "0 5;7 6", f"0 {'9' * 19}", f"{'9' * 19} 5"):
        with pytest.raises(PubmillError) as caught:
            read(f"T1\tSign {offsets}\tFever\n")
        assert str(caught.value) == (
            f"in.zip:sub/a.ann:1: expected offsets, each end after its start, found 'Sign {offsets}'"
        )
    with pytest.raises(PubmillError, match=r"^in\.zip:sub/a\.ann:2: a second T1$"):
        read("T1\tSign 0 5\tFever\nT1\tSite 10 15\tchest\n")


@pytest.mark.parametrize(("texts", "expected"), [
    ({"sub/a.txt": TEXT}, "in.zip:sub/a.txt: there is no file a.ann with its annotations"),
    ({"sub/a.ann": ""}, "in.zip:sub/a.ann: there are annotations, but no text a.txt"),
    ({"a.txt": TEXT, "sub/a.a2": ""}, "in.zip:sub/a.a2: there are annotations, but no text a.txt"),
])  # fmt: skip
def test_texts_and_annotations_belong_together(texts: Mapping[str, str], expected: str) -> None:
    with pytest.raises(PubmillError) as caught:
        list(read_documents(texts, "in.zip"))
    assert str(caught.value) == expected


def test_a_single_file_of_brat_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text("T1\tSign 0 5\tFever\n")
    with pytest.raises(PubmillError) as caught:
        annotated_documents(tmp_path / "a.ann", "brat")
    assert str(caught.value) == (
        f"{tmp_path}/a.ann: brat's form needs an archive (zip, tar) of .txt and .ann files"
    )
