"""Annotation of BioC files: which mentions and relations are replaced, which stay, and what is refused."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pubmill.errors import PubmillError
from tests.unit.prediction.toy_annotators import PUBTATOR, XML, annotated, bioc, counted, relater, tagger


@pytest.mark.parametrize("sentences", [False, True])
def test_bioc_json_relations_and_mentions(tmp_path: Path, sentences: bool) -> None:
    given_in = bioc(sentences)
    out = json.loads(annotated(relater(), tmp_path, "bioc-json", json.dumps(given_in)))
    [_, passage] = out["documents"][0]["passages"]
    holder = passage["sentences"][0] if sentences else passage
    old, relation = holder["relations"]
    assert old == {"id": "old", "nodes": []}
    assert relation["infons"] == {"type": "binds"} and relation["id"] == "R1"
    assert relation["nodes"] == [{"refid": "2", "role": "drug"}, {"refid": "1", "role": "gene"}]
    assert len(holder["annotations"]) == 3 and out["key"] == "k"
    again = relater()
    assert json.loads(annotated(again, tmp_path, "bioc-json", json.dumps(out))) == out
    assert counted(again) == [0, 0, 1, 1]
    given_in = bioc(sentences)
    out = json.loads(annotated(tagger(), tmp_path, "bioc-json", json.dumps(given_in)))
    [title, passage] = out["documents"][0]["passages"]
    assert title["annotations"][0]["locations"] == [{"offset": 0, "length": 2}]
    assert title["annotations"][1] == {
        "id": "T2", "infons": {"type": "Name"}, "text": "Ann", "locations": [{"offset": 4, "length": 3}],
    }  # fmt: skip
    assert passage == given_in["documents"][0]["passages"][1]
    assert json.loads(annotated(tagger(), tmp_path, "bioc-json", json.dumps(out))) == out


@pytest.mark.parametrize("sentences", [False, True])
def test_bioc_keeps_what_others_annotated_and_new_names_are_free(tmp_path: Path, sentences: bool) -> None:
    """A mention of the model's type goes, with its relation and the relation of that; all else stays."""
    content = bioc(sentences)
    [title, passage] = content["documents"][0]["passages"]
    holder = passage["sentences"][0] if sentences else passage
    place = [{"offset": 0, "length": 2}, {"offset": 4, "length": 3}]
    pieces = {"id": "T1", "infons": {"type": "other", "score": "1"}, "text": "Of Ann", "locations": place}
    mine = {"id": "9", "infons": {"type": "Name"}, "text": "Ann", "locations": place[1:]}
    title["annotations"] = [mine, pieces]
    holder["relations"] = []
    for number, names in enumerate([["1", "2"], ["1", "9"], ["r1", "2"]]):
        nodes = [{"refid": name, "role": ""} for name in names]
        holder["relations"].append({"id": f"r{number}", "infons": {"type": "x"}, "nodes": nodes})
    annotator = tagger()
    out = json.loads(annotated(annotator, tmp_path, "bioc-json", json.dumps(content)))
    [title_out, passage_out] = out["documents"][0]["passages"]
    assert title_out["annotations"][0] == pieces
    assert [one["id"] for one in title_out["annotations"]] == ["T1", "T2", "T3"]
    holder["relations"] = holder["relations"][:1]
    assert passage_out == passage and counted(annotator) == [1, 4, 2, 1]


def test_bioc_xml_is_written_in_its_own_form(tmp_path: Path) -> None:
    out = annotated(relater(), tmp_path, "bioc-xml", XML)
    assert out.splitlines()[1] == '<!DOCTYPE collection SYSTEM "BioC.dtd">'
    root = etree.fromstring(out.encode())
    assert [relation.get("id") for relation in root.iter("relation")] == ["old", "R1"]
    nodes = [(node.get("refid"), node.get("role")) for node in root.iter("node")]
    assert nodes == [("1", "r"), ("2", "drug"), ("1", "gene")]
    assert root.findtext("infon") == "<b>" and root.findtext("document/passage/text") == "Of, Ann & é"
    again = annotated(tagger(), tmp_path, "bioc-xml", out)
    locations = [dict(location.attrib) for location in etree.fromstring(again.encode()).iter("location")]
    assert locations[:2] == [{"offset": "0", "length": "2"}, {"offset": "4", "length": "3"}]
    assert len(locations) == 4 and again.count("<relation") == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('SYSTEM "BioC.dtd"', '[<!ENTITY x SYSTEM "file:///etc/passwd">]', "declares entities"),
        ("&amp;", "&undeclared;", "must contain only text"),
        ("<date/>", "<date/><new/>", "`collection` contains"),
        ("<offset>12<", "<offset>x<", "number of characters"),
        ('offset="14"', 'offset="15"', "count characters, not bytes"),
        ('length="4"/><text>drug', 'size="4"/><text>drug', "no such attributes"),
        ("</document>", "", "not well-formed"),
        ("collection", "corpus", "root element"),
        ("<id>7</id>", "", "needs an `id`"),
    ],
)
def test_bioc_xml_faults(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message) as caught:
        annotated(relater(), tmp_path, "bioc-xml", XML.replace(old, new))
    assert "in" in str(caught.value) and "binds" not in str(caught.value)
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def damage(value: Any, generator: random.Random) -> Any:
    """One thing of a JSON value replaced by something else."""
    if isinstance(value, dict | list) and value and generator.random() < 0.85:
        key = generator.choice(list(value) if isinstance(value, dict) else range(len(value)))
        made = value.copy()
        made[key] = damage(value[key], generator)
        return made
    return generator.choice([None, 3, -1, "x", [], {}, [1], True, {"id": 1}, "\ud83d"])


@given(st.integers(0, 10**6))
def test_damaged_bioc_is_refused_or_written(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = tmp_path_factory.mktemp("damage")
    content = json.dumps(damage(bioc(seed % 2 == 0), random.Random(seed)))
    for annotator in (tagger(), relater()):
        try:
            json.loads(annotated(annotator, folder, "bioc-json", content))
        except PubmillError as error:
            assert "in" in str(error)


def test_relations_have_confidences(tmp_path: Path) -> None:
    sure = relater()
    sure.confidences = True
    made = json.loads(annotated(sure, tmp_path, "bioc-json", json.dumps(bioc())))
    _, relation = made["documents"][0]["passages"][1]["relations"]
    assert relation["infons"] == {"type": "binds", "confidence": "0.7"}
    with pytest.raises(PubmillError, match="no place for the confidence of a relation"):
        annotated(sure, tmp_path, "pubtator", PUBTATOR)
