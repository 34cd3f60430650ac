"""Titles, abstracts, mentions and relations of PubTator files, at the edges of the format."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.documents import InputDocument
from pubmill.formats.pubtator import PubTator

TITLE, ABSTRACT = "7|t|A drug", "7|a|binds it"


def read(folder: Path, *lines: str) -> list[InputDocument]:
    path = folder / "in"
    path.write_text("".join(f"{line}\n" for line in lines))
    return list(PubTator(path).documents())


def test_documents_have_titles_relations_and_the_mentions_that_begin_in_each_part(tmp_path: Path) -> None:
    [document] = read(tmp_path, TITLE, "7\t2\t6\tdrug\tChemical", "7\tCID\tD1\tD2")
    [passage] = document.passages
    assert (passage.text, passage.offset, len(passage.mentions)) == ("A drug", 0, 1)
    assert [(one.type, one.arguments) for one in document.relations] == [("CID", ("D1", "D2"))]
    assert document.where == f"{tmp_path}/in:1"
    [document] = read(tmp_path, TITLE, "7\tCID\tD1\tD2", "7\tCID\tD1\tD2\tNovel", "7\tCID\tD1\tD2\tNo\tmore")
    assert [(one.arguments, one.concepts, one.novelty) for one in document.relations] == [
        (("D1", "D2"), ("D1", "D2"), None),
        (("D1", "D2", "Novel"), ("D1", "D2"), "Novel"),
        (("D1", "D2", "No", "more"), ("D1", "D2"), None),
    ]
    found = read(tmp_path, "", TITLE, ABSTRACT, "", "  ", "8|t|B", "", "9|t|C|t|D")
    assert [(one.id, [part.text for part in one.passages]) for one in found] == [
        ("7", ["A drug", "binds it"]), ("8", ["B"]), ("9", ["C|t|D"]),
    ]  # fmt: skip
    assert read(tmp_path) == []
    rows = [(0, 1, "A"), (2, 6, "drug"), (5, 9, "g bi"), (7, 12, "binds"), (13, 15, "it")]
    lines = [f"7\t{start}\t{end}\t{text}\tT" for start, end, text in rows]
    [document] = read(tmp_path, TITLE, ABSTRACT, *lines)
    title, abstract = document.passages
    assert (abstract.text, abstract.offset) == ("binds it", 7)
    assert [m.start for m in title.mentions] == [0, 2, 5] and [m.start for m in abstract.mentions] == [7, 13]


@pytest.mark.parametrize(("columns", "name"), [
    ("T", None), ("T\t", None), ("T\t-", None), ("T\t-1", None), ("T\tD1", "D1"), ("T\tD1\tmore", "D1"),
])  # fmt: skip
def test_the_sixth_column_may_be_an_identifier(tmp_path: Path, columns: str, name: str | None) -> None:
    [document] = read(tmp_path, TITLE, f"7\t2\t6\tdrug\t{columns}")
    [found] = document.passages[0].mentions
    assert (found.start, found.end, found.type, found.text, found.id) == (2, 6, "T", "drug", name)


@pytest.mark.parametrize(("lines", "message"), [
    (["7|a|x"], "in:1: a document must begin"), (["", "", "7 t A"], "in:3: a document must begin"),
    ([TITLE, "7|t|again"], "in:2: expected tab-separated columns that begin with 7's id"),
    ([TITLE, ABSTRACT, ABSTRACT], "in:3: expected tab-separated"),
    ([TITLE, "8|a|of another document"], "in:2: expected tab-separated"),
    ([TITLE, "8\tCID\tD1\tD2"], "in:2: expected tab-separated"),
    ([TITLE, "7\tCID\tD1"], "in:2: expected tab-separated"),
    ([TITLE, "7\t2\t6\tdrug"], "in:2: a mention has the columns"),
    ([TITLE, "7\t2\t-6\tdrug\tT"], "in:2: a mention has the columns"),
    ([TITLE, "7\t2\t2\t\tT"], "in:2: the mention's text differs"),
    ([TITLE, "7\t6\t2\t\tT"], "in:2: the mention's text differs"),
    ([TITLE, "7\t2\t6\tDrug\tT"], "in:2: the mention's text differs"),
    ([TITLE, "", "8|t|B", "8\t0\t1\tA\tT"], "in:4: the mention's text differs"),
])  # fmt: skip
def test_faults_name_their_line(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(tmp_path, *lines)
