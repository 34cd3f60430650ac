"""Which BioC files are read, and what of them; the places in messages about others."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.bioc_collections import BioCJson, BioCXml, documents_of
from pubmill.formats.documents import InputDocument
from pubmill.formats.offsets import Offsets

TEXT = "a drug binds a gene"


def mention(*spans: tuple[Any, Any], text: Any = None, **more: Any) -> dict[str, Any]:
    locations = [{"offset": start, "length": length} for start, length in spans]
    return {"infons": {"type": "drug"}, "locations": locations, "text": text} | more


def collection(*annotations: Any, **passage: Any) -> dict[str, Any]:
    holder = {"offset": 10, "text": TEXT, "annotations": list(annotations)} | passage
    return {"documents": [{"id": 7, "passages": [{"offset": 0, "text": "Title"}, holder]}]}


def read(folder: Path, content: Any) -> list[InputDocument]:
    path = folder / "in.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return list(BioCJson(path).documents())


def mentions(folder: Path, *annotations: Any) -> list[tuple[Any, ...]]:
    [document] = read(folder, collection(*annotations))
    return [(m.start, m.end, m.type, m.text, m.id) for m in document.passages[1].mentions]


def test_a_mention_in_several_places_has_pieces_and_covers_them(tmp_path: Path) -> None:
    one, two = mention((12, 4)), mention((17, 5), (12, 4))
    [document] = read(tmp_path, collection(one, two))
    assert [m.spans for m in document.passages[1].mentions] == [(), ((12, 16), (17, 22))]
    assert mentions(
        tmp_path,
        mention((17, 5), (12, 4), text="binds drug", id=5),
        mention((12, 10), (12, 4)),
        mention((12, 4), text="drug", id="x"),
        mention((10, 19), text=TEXT),
        mention((10, 1), infons={}),
    ) == [
        (12, 22, "drug", "drug binds", "5"),
        (12, 22, "drug", "drug binds", None),
        (12, 16, "drug", "drug", "x"),
        (10, 29, "drug", TEXT, None),
        (10, 11, "", "a", None),
    ]


@pytest.mark.parametrize(("annotation", "message"), [
    (mention(), "needs locations, each with offset and length"),
    (mention((12, None)), "needs locations"), (mention(("12", 4)), "needs locations"),
    (mention((12, 4), (None, 4)), "needs locations"), (mention((12, 4), infons=[]), "needs locations"),
    (mention((12, 4), infons={"type": 5}), "needs locations"),
    (mention((12, 4), text="Drug"), "its text differs"), (mention((9, 3)), "its text differs"),
    (mention((12, 0)), "its text differs"), (mention((12, -3)), "its text differs"),
    (mention((12, 90)), "its text differs"), (mention((12, True)), "needs locations"),
    (mention((29, 4)), "its text differs"), (mention((2, 4), text="tle"), "its text differs"),
])  # fmt: skip
def test_misplaced_mentions_are_refused(tmp_path: Path, annotation: dict[str, Any], message: str) -> None:
    where = r"in\.json: document 1 \(7\), passage 2, annotation M: "
    with pytest.raises(PubmillError, match=where + message):
        mentions(tmp_path, annotation | {"id": "M"})
    with pytest.raises(PubmillError, match=r"annotation : " + message):
        mentions(tmp_path, annotation | {"id": ["no name"]})


def test_relations_are_read_at_every_level_and_passages_may_lack_text(tmp_path: Path) -> None:
    def relation(name: Any, *nodes: Any, **more: Any) -> dict[str, Any]:
        return {"id": name, "nodes": [{"refid": node} for node in nodes]} | more

    content = collection(
        sentences=[{"offset": 10, "text": "a", "relations": [relation(None)]}],
        relations=[relation("p", "1", 2, infons={"type": "binds"}), relation(5, infons=[])],
    )
    content["documents"][0]["relations"] = [relation("d", "p", infons={"type": 9})]
    [document] = read(tmp_path, content)
    assert [(one.id, one.type, one.arguments) for one in document.relations] == [
        ("d", "9", ("p",)), ("p", "binds", ("1", "2")), ("5", "", ()), (None, "", ()),
    ]  # fmt: skip
    assert [passage.text for passage in document.passages] == ["Title", "a"]
    [document] = read(tmp_path, {"documents": [{"id": "a", "passages": [{"offset": 3}]}]})
    [passage] = document.passages
    assert (passage.text, passage.offset, passage.mentions, document.id) == ("", 3, [], "a")


def test_a_file_may_hold_several_collections_and_is_written_as_it_was(tmp_path: Path) -> None:
    content = [collection(), {"documents": []}, {"documents": [{"id": "é", "passages": []}]}]
    assert [one.id for one in read(tmp_path, content)] == ["7", "é"]
    assert [one.where.rpartition(": ")[2] for one in read(tmp_path, content)] == ["document 1"] * 2
    with (tmp_path / "out").open("w", encoding="utf-8") as output:
        BioCJson(tmp_path / "in.json").write([], output)
    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert json.loads(written) == content and written.startswith('[\n {\n  "documents"') and "é" in written
    assert written.endswith("]\n")


@pytest.mark.parametrize(("content", "message"), [
    ('{"documents":\n [}', r"in\.json: not valid JSON: .* at line 2"),
    ("{}", "a list of objects `documents`"), ("[[]]", "`documents`"), ("5", "`documents`"),
    ('{"documents": [{"passages": []}]}', "document 1: a document needs an `id`"),
    ('{"documents": [{"id": "a"}]}', "document 1: BioC needs a list of objects `passages`"),
    *((collection(offset=wrong), "needs an `offset`") for wrong in (None, True, "10")),
    (collection(text=5), "needs an `offset`"),
    (collection(annotations={}), "a list of objects `annotations`"),
    (collection(annotations=[1]), "`annotations`"), (collection(relations=[1]), "`relations`"),
    (collection(sentences=1), "`sentences`"), (collection(relations=[{"nodes": 1}]), "`nodes`"),
])  # fmt: skip
def test_files_of_another_form_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(tmp_path, content)


@pytest.mark.parametrize(("inside", "message"), [
    ("<infon>a</infon>", ":2: `infon` must contain only text, and occur once (an infon once a `key`)"),
    ('<infon key="a">1</infon>\n<infon key="a">2</infon>', ":3: `infon` must contain only text, and"),
    ("<id>7<b/></id>", ":2: `id` must contain only text"),
    ("<text>t</text>", ":2: unknown element; BioC's `document` contains id, infon, passage, relation"),
    ('<relation id="1"><node refid="2" size="1"/></relation>', ":2: BioC's `node` has no such attri"),
    ("<passage><offset>-1</offset></passage>", ":2: offset must be a number of characters"),
    ("<id>7</id>\n<id>8</id>", ":3: `id` must contain only text, and occur once (an infon once a `key`)"),
    ('<id lang="en">7</id>', ":2: `id` must contain only text"),
    ('<infon key="a" value="b"/>', ":2: `infon` must contain only text"),
    ("<passage>\nlost</passage>",
     ":2: BioC's `passage` contains elements only, but there is text between them"),
    ("<id>7</id>lost", ":1: BioC's `document` contains elements only, but there is text between them"),
])  # fmt: skip
def test_xml_of_another_form_is_refused_with_its_line(tmp_path: Path, inside: str, message: str) -> None:
    path = tmp_path / "in.xml"
    path.write_text(f"<collection><document>\n{inside}</document></collection>")
    with pytest.raises(PubmillError) as caught:
        BioCXml(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_xml_is_written_with_what_it_has_and_no_document_type(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    content = '<collection><source>s</source><date/><key>k</key><infon key="a"/></collection>'
    path.write_text(f"<!-- no --><?no?>{content}")
    with (tmp_path / "out").open("w", encoding="utf-8") as output:
        BioCXml(path).write([], output)
    assert (tmp_path / "out").read_text() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n<collection>\n  <source>s</source>\n  <date></date>\n'
        '  <key>k</key>\n  <infon key="a"></infon>\n</collection>\n'
    )
    content = "<collection><document><id>7</id><passage><offset>0</offset></passage></document></collection>"
    path.write_text(content)
    with (tmp_path / "out").open("w", encoding="utf-8") as output:
        BioCXml(path).write([], output)
    lines = (tmp_path / "out").read_text().split("\n")[1:]
    assert "".join(line.strip() for line in lines) == content


def test_misplaced_mentions_are_counted_where_they_may_be() -> None:
    wrong, right = mention((12, 4), text="Drug"), mention((12, 4), text="drug")
    content = collection(wrong, right, mention((29, 4)))
    with pytest.raises(PubmillError, match=r"in: document 1 \(7\), passage 2, annotation : its text differs"):
        list(documents_of(content, "in"))
    [found] = documents_of(content, "in", Offsets(leave_out=True))
    assert len(found.misplaced) == 2 and [one.text for one in found.passages[1].mentions] == ["drug"]
    [found] = documents_of(collection(right), "in", Offsets(leave_out=True))
    assert found.misplaced == ()
    with pytest.raises(PubmillError, match="needs locations"):  # no matter of offsets
        list(documents_of(collection(mention()), "in", Offsets(leave_out=True)))
