"""New text in files, folders and streams: PubTator, BioC, types, confidences; models that follow a rule."""

import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pubmill.errors import PubmillError
from pubmill.formats.document_files import FORMATS
from pubmill.formats.text_files import read_text
from pubmill.prediction.annotated_files import annotate_file, check_targets, targets, without_streams
from pubmill.prediction.annotating import Annotator, written_names
from tests.unit.prediction.toy_annotators import PUBTATOR, XML, annotated, bioc, counted, relater, tagger


def test_pubtator_mentions_of_other_types_stay(tmp_path: Path) -> None:
    """With their identifiers and relations; a second run replaces only what the first one wrote."""
    annotator = tagger()
    out = annotated(annotator, tmp_path, "pubtator", PUBTATOR)
    assert out == (
        "12|t|Ann sees\n12|a|é then Bob. binds gene\n12\t0\t3\tAnn\tdrug\tD1\n12\t0\t3\tAnn\tName\n"
        "12\t16\t19\tBob\tdrug\tD2\n12\t16\t19\tBob\tName\n12\t27\t31\tgene\tgene\tG1\n12\tCID\tD1\tG1\n\n"
        "13|t|Eve\n13|a|\n13\t0\t3\tEve\tName\n\n"
    )
    assert counted(annotator) == [0, 3, 0, 1]
    again = tagger()
    assert annotated(again, tmp_path, "pubtator", out) == out and counted(again) == [3, 3, 0, 1]


def test_pubtator_relations_need_identifiers_and_mentions_in_one_passage(tmp_path: Path) -> None:
    """Bob and the gene, in the abstract; Ann is in the title, where nothing else is."""
    annotator = relater()
    out = annotated(annotator, tmp_path, "pubtator", PUBTATOR)
    lines = [line for line in out.splitlines() if "\tbinds" in line or "CID" in line]
    assert lines == ["12\tCID\tD1\tG1", "12\tbinds\tD2\tG1"]
    assert out.count("\tdrug\t") == 2 and counted(annotator) == [0, 0, 0, 1]
    again = relater()
    assert annotated(again, tmp_path, "pubtator", out) == out and counted(again) == [0, 0, 1, 1]
    content = PUBTATOR.replace("\tD2", "").replace("\tCID\tD1\tG1", "\tCID\ta\tb")
    with pytest.raises(PubmillError, match="sixth column"):
        annotated(relater(), tmp_path, "pubtator", content)


CONTENTS = {
    "text": "Ann\nBob\n", "jsonl": '{"id": "1", "text": "Ann"}\n{"id": "2", "text": "so Bob"}\n',
    "bioc-json": json.dumps(bioc()), "bioc-xml": XML, "pubtator": PUBTATOR,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_a_byte_order_mark_is_no_part_of_the_text(form: str, tmp_path: Path) -> None:
    """The same documents and offsets with and without it, and it isn't written; elsewhere it stays."""
    plain = annotated(tagger(), tmp_path, form, CONTENTS[form])
    assert "Ann" in plain and "Name" in plain
    assert annotated(tagger(), tmp_path, form, "\ufeff" + CONTENTS[form]) == plain
    row = json.loads(annotated(tagger(), tmp_path, "text", "\ufeffa \ufeff Ann"))
    assert row["text"] == "a \ufeff Ann" and row["annotations"][0]["start"] == 4
    line = '{"id": "1", "words": ["so", "Ann"]}\n'
    assert json.loads(annotated(tagger(), tmp_path, "jsonl", "\ufeff" + line))["predicted"] == ["O", "B-Name"]


def test_compressed_files_are_read_and_written_with_the_same_bytes(tmp_path: Path) -> None:
    plain = annotated(tagger(), tmp_path, "pubtator", PUBTATOR)
    (tmp_path / "in.pubtator.gz").write_bytes(gzip.compress(PUBTATOR.encode()))
    for name in ("one.gz", "two.gz"):
        annotate_file(tagger(), tmp_path / "in.pubtator.gz", tmp_path / name, "pubtator")
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()).decode() == plain


def test_files_of_a_folder_keep_their_names_in_the_folder_written(tmp_path: Path) -> None:
    folder, out = tmp_path / "notes", tmp_path / "out"
    folder.mkdir()
    for name in ("b.txt", "a.jsonl.gz", "notes.md", ".hidden"):
        (folder / name).touch()
    assert targets([folder], out) == {folder / name: out / name for name in ("a.jsonl.gz", "b.txt")}
    assert targets([folder / "b.txt"], out) == {folder / "b.txt": out}
    other = tmp_path / "other/b.txt"
    both = [folder / "b.txt", tmp_path / "c.xml"]
    assert list(targets(both, out)) == both
    with pytest.raises(PubmillError, match="several files are named b.txt"):
        targets([folder, other], out)
    (tmp_path / "empty").mkdir()
    with pytest.raises(PubmillError, match="empty: no file ends with .txt"):
        targets([tmp_path / "empty"], out)


def test_only_chosen_types_are_predicted_and_may_be_renamed(tmp_path: Path) -> None:
    """Names of another tagger stay, because what is replaced are the names that are written."""
    names = written_names({"Name", "Place"}, [], ["Name=Person"])
    assert names == {"Name": "Person", "Place": "Place"}
    predictor = tagger().predictor
    content = "12|t|Ann\n12|a|\n12\t0\t3\tAnn\tName\n12\t0\t3\tAnn\tPerson\n"
    out = annotated(Annotator(predictor, [], None, names), tmp_path, "pubtator", content)
    assert out == content + "\n"
    assert written_names({"Name", "Place"}, ["Place"], []) == {"Place": "Place"}
    out = annotated(Annotator(predictor, [], None, {"Place": "Place"}), tmp_path, "pubtator", content)
    assert out == content + "\n"


@pytest.mark.parametrize(
    ("types", "renamed", "message"),
    [
        (["Nam"], [], "there is no type of this model 'Nam'; the nearest: Name"),
        ([], ["Nam=X"], "there is no type of this model 'Nam'"),
        ([], ["Name"], "--map Name: expected OLD=NEW"),
        *(([], [wrong], f"^--map {wrong}: expected OLD=NEW") for wrong in ("Name=", "=New", "=")),
    ],
)
def test_types_that_the_model_lacks_are_refused(types: list[str], renamed: list[str], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        written_names({"Name", "Place"}, types, renamed)


def test_outputs_and_rows_are_not_renamed(tmp_path: Path) -> None:
    chosen = Annotator(tagger().predictor, [], None, {"Name": "Person"})
    with pytest.raises(PubmillError, match="not for rows"):
        annotated(chosen, tmp_path, "jsonl", '{"id": "1", "words": ["Ann"]}\n')
    for source, form, target in (
        ("a.txt", "text", "b.txt"), ("a.txt", "text", "b.jsonl.gz"), ("a.txt", "text", "stdout"),
        ("a.xml", "bioc-xml", "b"), ("a.txt", "pubtator", "b.pubtator"), ("a.json", "jsonl", "sub/a.json"),
    ):  # fmt: skip
        check_targets({tmp_path / source: tmp_path / target}, {tmp_path / source: form})


def test_a_mention_is_as_sure_as_its_least_sure_word(tmp_path: Path) -> None:
    sure = Annotator(tagger().predictor, [], None, confidences=True)
    out = annotated(sure, tmp_path, "pubtator", "12|t|see Ann Bob\n")
    assert out == "12|t|see Ann Bob\n12\t4\t11\tAnn Bob\tName\t-\t0.6778\n\n"
    again = annotated(tagger(), tmp_path, "pubtator", out)
    assert again == out.replace("\t-\t0.6778", "")
    row = json.loads(annotated(sure, tmp_path, "text", "see Ann"))
    assert row["annotations"] == [{"start": 4, "end": 7, "text": "Ann", "type": "Name", "confidence": 0.7889}]
    made = json.loads(annotated(sure, tmp_path, "bioc-json", json.dumps(bioc())))
    first, ann = made["documents"][0]["passages"][0]["annotations"]
    assert first["infons"] == {"type": "Name", "confidence": "0.9"} and ann["text"] == "Ann"


@pytest.mark.parametrize("packed", [False, True])
def test_streams_are_files_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any, packed: bool
) -> None:
    content = b"12|t|Ann\n\n"
    given_in = io.BytesIO(gzip.compress(content) if packed else content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(given_in, encoding="utf-8"))
    with without_streams([Path("-")], Path("-")) as ([source], target):
        assert source.name == "stdin" and read_text(source) == content.decode()
        annotate_file(tagger(), source, target, "pubtator")
    assert capfdbinary.readouterr().out == b"12|t|Ann\n12\t0\t3\tAnn\tName\n\n"
    assert not source.exists() and not target.exists()


def test_streams_are_no_folders_and_readers_may_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for sources, output, message in (
        ([Path("-"), Path("a.txt")], tmp_path, "must be the only input"),
        ([tmp_path], Path("-"), "name a folder"),
    ):
        with pytest.raises(PubmillError, match=message), without_streams(sources, output):
            pass
    with without_streams([tmp_path], tmp_path) as found:
        assert found == ([tmp_path], tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    (tmp_path / "in").write_bytes(b"x" * 100_000)
    with os.fdopen(writing, "w") as broken:
        monkeypatch.setattr("sys.stdout", broken)
        with without_streams([tmp_path / "in"], Path("-")) as ([source], target):
            target.write_bytes(source.read_bytes())


@pytest.mark.parametrize(
    ("source", "form", "target", "fault"),
    [
        ("a.txt", "text", "a.txt", "the output would replace this input"),
        ("a.xml", "bioc-xml", "sub/../a.xml", "the output would replace this input"),
        ("a.txt", "text", "b.pubtator", r"implies pubtator, but text is annotated as jsonl; .* \*\.jsonl"),
        ("a.jsonl", "jsonl", "b.json.gz", "implies bioc-json, but jsonl is annotated as jsonl"),
        ("a.xml", "bioc-xml", "b.json", r"annotated as bioc-xml; name the output \*\.xml"),
    ],
)
def test_misleading_outputs_fail(source: str, form: str, target: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    with pytest.raises(PubmillError, match=fault):
        check_targets({tmp_path / source: tmp_path / target}, {tmp_path / source: form})


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


def test_relations_have_confidences(tmp_path: Path) -> None:
    sure = relater()
    sure.confidences = True
    made = json.loads(annotated(sure, tmp_path, "bioc-json", json.dumps(bioc())))
    _, relation = made["documents"][0]["passages"][1]["relations"]
    assert relation["infons"] == {"type": "binds", "confidence": "0.7"}
    with pytest.raises(PubmillError, match="no place for the confidence of a relation"):
        annotated(sure, tmp_path, "pubtator", PUBTATOR)
