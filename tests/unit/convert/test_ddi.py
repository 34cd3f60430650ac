"""The DDI corpus: pairs of hand-made XML, and refused files."""

import io
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.ddi import read
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import dummies
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.messages.quotations import withholding

XML = """<?xml version="1.0" encoding="UTF-8"?>
<document id="D1">
    <sentence id="D1.s0" text="Do not mix alpha and beta zolins with Xol.&#xd;&#xa;">
        <entity id="D1.s0.e0" charOffset="11-15;26-31" type="group" text="alpha zolins"/>
        <entity id="D1.s0.e1" charOffset="21-31" type="drug_n" text="beta zolins"/>
        <entity id="D1.s0.e2" charOffset="38-40" type="brand" text="Xol"/>
        <pair id="D1.s0.p0" e1="D1.s0.e0" e2="D1.s0.e1" ddi="false"/>
        <pair id="D1.s0.p1" e1="D1.s0.e0" e2="D1.s0.e2" ddi="true" type="advise"/>
    </sentence>
    <sentence id="D1.s1" text=""/>
</document>
"""
OTHER = '<document id="D2"><sentence id="D2.s0" text="No drug."/></document>'
OPTIONS: dict[str, Any] = {"folders": {"train_dataset": "C/train"}, "displaced": [], "pieces": "span"}
TYPES = {"drug": "@DRUG$", "brand": "@BRAND$", "group": "@GROUP$", "drug_n": "@DRUG_N$"}
LISTED = "train_dataset/Some drug.xml\ntrain_dataset/b.xml"
Reader = Callable[..., list[SequenceExample]]
BOMB = '<!DOCTYPE document [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>\n'


@pytest.fixture
def left_out() -> Counter[str]:
    return Counter()


@pytest.fixture
def convert(tmp_path: Path, left_out: Counter[str]) -> Reader:
    """Return a function that reads an archive of the file above after a replacement."""

    def run(
        old: str = "", new: str = "", *, listed: str = LISTED, content: bytes | None = None, **options: Any
    ) -> list[SequenceExample]:
        assert old in XML
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("C/train/b.xml", OTHER)
            archive.writestr("C/train/Some drug.xml", content or XML.replace(old, new, 1))
            archive.writestr("C/.DS_Store", b"\0\xff")
        inputs = {"archive": tmp_path / "ddi.zip", "train_files": tmp_path / "train_files.tsv"}
        inputs["archive"].write_bytes(packed.getvalue())
        inputs["train_files"].write_text(listed)
        return list(read(ConverterInput("train", inputs, {**OPTIONS, **options}, left_out)))

    return run


def test_pairs_with_their_mentions(convert: Reader, left_out: Counter[str]) -> None:
    false, advise = convert()
    found = [(e.id, e.label, e.document) for e in (false, advise)]
    assert found == [("D1.s0.p0", "DDI-false", "D1"), ("D1.s0.p1", "DDI-advise", "D1")]
    assert advise.text == "Do not mix alpha and beta zolins with Xol.  "
    assert advise.entities == [
        Entity(start=11, end=32, type="group", id="D1.s0.e0"),
        Entity(start=38, end=41, type="brand", id="D1.s0.e2"),
    ]
    assert dummies(advise.text, advise.entities, TYPES, "@X$").text == "Do not mix @GROUP$ with @BRAND$.  "
    assert dummies(false.text, false.entities, TYPES, "@X$").text == "Do not mix @X$ with Xol.  "
    assert left_out == {
        "mentions_in_pieces": 1, "texts_of_displaced_mentions": 0, "interactions_without_type": 0,
    }  # fmt: skip
    with pytest.raises(PubmillError, match=r"Some drug\.xml:1: expected <sentence> .* found <entity>"):
        convert(content=b'<sentence id="D1.s0" text="No drug."><entity/></sentence>')


def test_of_a_mention_in_pieces_the_first_alone(convert: Reader, left_out: Counter[str]) -> None:
    false, advise = convert(pieces="first")
    assert advise.entities[0] == Entity(start=11, end=16, type="group", id="D1.s0.e0")
    assert advise.text == "Do not mix alpha and beta zolins with Xol.  "
    made = [dummies(e.text, e.entities, TYPES, "@{}-{}$").text for e in (false, advise)]
    assert made == [
        "Do not mix @GROUP$ and @DRUG_N$ with Xol.  ",
        "Do not mix @GROUP$ and beta zolins with @BRAND$.  ",
    ]
    assert left_out["mentions_in_pieces"] == 1


def test_interactions_without_type_and_displaced_mentions_are_counted(
    convert: Reader, left_out: Counter[str]
) -> None:
    with pytest.raises(PubmillError, match=r"Some drug\.xml:6: the entity is 'Xol', but .* is 'ol\.'"):
        convert("38-40", "39-41")
    advise = convert("38-40", "39-41", displaced=["D1.s0"])[1]
    assert (advise.entities[1].start, advise.entities[1].end) == (39, 42)
    assert left_out["texts_of_displaced_mentions"] == 1
    assert [e.id for e in convert(' type="advise"/>', "/>")] == ["D1.s0.p0"]
    assert left_out["interactions_without_type"] == 1


@pytest.mark.parametrize(("old", "new", "message"), [
    ("38-40", "38-44", r":6: expected charOffset .* within the 44 characters of the sentence; found '38-44'"),
    ("38-40", "40-38", r":6: expected charOffset"), ("38-40", "x-40", r":6: expected charOffset"),
    ("11-15;26-31", "26-31;11-15", r":4: expected charOffset"),
    ('id="D1.s0.e1"', 'id="D1.s0.e0"', r":5: expected an entity with a new id"),
    ('"brand"', '"food"', r":6: expected an entity .* found D1\.s0\.e2 of type 'food'"),
    ('e2="D1.s0.e2"', 'e2="D1.s0.e9"', r":8: the pair D1\.s0\.p1 has 'D1\.s0\.e0' and 'D1\.s0\.e9'"),
    ('e2="D1.s0.e2"', 'e2="D1.s0.e0"', r":8: the pair D1\.s0\.p1 has 'D1\.s0\.e0' and 'D1\.s0\.e0'"),
    ('e2="D1.s0.e2" ', "", r":8: <pair> has no e2"), ('"advise"', '"none"', r":8: expected ddi="),
    ('ddi="false"', 'ddi="false" type="int"', r":7: expected ddi="),
    ('ddi="false"', 'ddi="maybe"', r":7: expected ddi="),
    (' text="Do', ' was="Do', r":3: <sentence> has no text"),
    ('id="D1.s0.p1"', 'id="D2.s0.p1"', r":8: <pair> has the id 'D2\.s0\.p1'; .* begins with D1\.s0\."),
    ('id="D1.s1"', 'id="D2.s1"', r":10: <sentence> has the id 'D2\.s1'"),
    ("<pair ", "<relation ", r":3: expected <sentence> with <entity> and <pair>"),
    ("</document>", "", r":\d+: not well-formed XML"),
])  # fmt: skip
def test_another_form_is_refused(convert: Reader, old: str, new: str, message: str) -> None:
    with pytest.raises(PubmillError, match=rf"ddi\.zip: C/train/Some drug\.xml{message}"):
        convert(old, new)


@pytest.mark.parametrize(("listed", "message"), [
    ("train_dataset/c.xml", r"train_files\.tsv:1: .*ddi\.zip has no file C/train/c\.xml"),
    ("test_dataset/b.xml", r"train_files\.tsv:1: expected train_dataset/\.\.\.\.xml"),
    ("train_dataset/b.xml\n\ntrain_dataset/c.xml", r"train_files\.tsv:2: expected train_dataset"),
])  # fmt: skip
def test_the_list_and_the_archive_belong_together(convert: Reader, listed: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        convert(listed=listed)


@pytest.mark.parametrize(("old", "new"), [
    ('"brand"', '"Qzword"'), ('"advise"', '"Qzword"'), ('ddi="false"', 'ddi="Qzword"'),
    ('e2="D1.s0.e2"', 'e2="Qzword"'), ('id="D1.s0.p1"', 'id="Qzword"'), ('text="Xol"', 'text="Qzword"'),
    ("38-40", "Qzword"),
])  # fmt: skip
def test_messages_show_no_content_where_it_is_withheld(convert: Reader, old: str, new: str) -> None:
    with withholding(True), pytest.raises(PubmillError, match="characters, not shown") as caught:
        convert(old, new)
    assert "Qzword" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-7"])
def test_declared_entities_are_never_read(convert: Reader, encoding: str) -> None:
    text = (
        XML.replace("UTF-8", encoding).replace("<document", BOMB + "<document", 1).replace("Xol.", "&b;&f;")
    )
    content = text.encode(encoding)
    if encoding == "utf-7":
        content = content.replace(b"<!DOCTYPE", b"+ADwAIQ-DOCTYPE")
    with pytest.raises(PubmillError, match=r"Some drug\.xml:.*(document type|not UTF-8|not well-formed)"):
        convert(content=content)
