"""Inputs for other systems: without gold, with ids, in forms that are read back."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, MultilabelExample, RelationsExample, SequenceExample
from pubmill.examples.prompts import Wording
from pubmill.predictions.inputs_without_gold import row_of, write_inputs
from tests.unit.predictions import toy_datasets as toy


def plain(template: str) -> Wording:
    return Wording(template, {"annotated": "things", "types": "", "labels": "A, B"})


FORMS = {"ner": 8, "rel": 8, "doc": 5, "sim": 5, "qa": 5}


@pytest.mark.parametrize("name", FORMS)
def test_no_file_has_gold_and_every_file_has_all_ids(name: str, tmp_path: Path) -> None:
    toy.make(tmp_path, name)
    recipe = toy.recipe(tmp_path, name)
    rows: Any = toy.examples(name)
    task = {"rel": "relation", "doc": "classification", "sim": "similarity", "qa": "factoid"}.get(name, "ner")
    files = {path.name: path for path in write_inputs(tmp_path, rows, recipe, plain(toy.TEMPLATES[task]))}
    assert len(files) == FORMS[name]
    mapping = json.loads(files.pop("mapping.json").read_text())
    assert set(mapping) == set(filter(None, recipe.labels))
    for path in files.values():
        text = path.read_text()
        assert all(one.id in text for one in rows), path
        if path.name != "prompts.jsonl":
            assert not any(label in text for label in mapping), path
    for line, one in zip(files["inputs.jsonl"].read_text().splitlines(), rows, strict=True):
        row = json.loads(line)
        assert not row.keys() & {"label", "labels", "score", "answers", "golds", "ratings", "layers"}
        assert row["dataset"] == name and row["id"] == one.id


def test_inputs_have_the_words_and_arguments_in_every_form(tmp_path: Path) -> None:
    for name in ("ner", "rel"):
        toy.make(tmp_path, name)
        write_inputs(
            tmp_path / "in" / name, toy.examples(name)[:1], toy.recipe(tmp_path, name), plain("{words}{text}")
        )
    words, relation = tmp_path / "in/ner", tmp_path / "in/rel"
    sentence = "Case 1 : flu fever after old aspirin tablets , not cured ."
    columns = "".join(f"{word}\t_\n" for word in sentence.split())
    assert (words / "inputs.conll").read_text() == f"# id = test-000001\n{columns}\n"
    assert not (words / "inputs.tsv").exists()
    assert (words / "inputs.pubtator").read_text() == f"test-000001|t|{sentence}\n\n"
    text = "In 1 assays drug1 changed gene1 levels."
    assert (relation / "inputs.pubtator").read_text() == (
        f"1000.T1|t|{text}\n1000.T1\t12\t17\tdrug1\tC\tT1\n1000.T1\t26\t31\tgene1\tG\tT2\n\n"
    )
    marked = "In 1 assays [E1] drug1 [/E1] changed [E2] gene1 [/E2] levels."
    assert json.loads((relation / "prompts.jsonl").read_text()) == {"id": "1000.T1", "prompt": marked}
    assert (relation / "inputs.tsv").read_text().splitlines()[1] == f"1000.T1\t{marked}\t?"
    row = json.loads((relation / "inputs.jsonl").read_text())
    assert row["arguments"] == [{"start": 12, "end": 17, "type": "C"}, {"start": 26, "end": 31, "type": "G"}]
    [document] = json.loads((relation / "inputs.bioc.json").read_text())["documents"]
    [passage] = document["passages"]
    assert (passage["offset"], passage["text"], document["id"]) == (0, text, "1000.T1")
    assert [(one["id"], one["text"], one["locations"]) for one in passage["annotations"]] == [
        ("T1", "drug1", [{"offset": 12, "length": 5}]), ("T2", "gene1", [{"offset": 26, "length": 5}]),
    ]  # fmt: skip
    tree = etree.parse(relation / "inputs.bioc.xml")
    assert tree.xpath("//document/id/text()") == ["1000.T1"]
    assert tree.xpath("//annotation/@id") == ["T1", "T2"]
    assert tree.xpath("//location/@offset") == ["12", "26"]


def test_letters_of_all_alphabets_stay_readable(tmp_path: Path) -> None:
    toy.make(tmp_path, "doc")
    [example, *_] = toy.examples("doc")
    assert isinstance(example, MultilabelExample)
    rows = [replace(example, text="TGF-β")]
    for path in write_inputs(tmp_path / "in", rows, toy.recipe(tmp_path, "doc"), plain("Label {text}")):
        assert path.name == "mapping.json" or "TGF-β" in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("name", FORMS)
def test_inputs_are_read_back_once_they_are_filled(name: str, tmp_path: Path) -> None:
    toy.make(tmp_path, name)
    rows: Any = toy.examples(name)
    for path in write_inputs(tmp_path, rows, toy.recipe(tmp_path, name), plain("{text}")):
        with pytest.raises(PubmillError):
            toy.score(tmp_path, name, path.read_bytes())
    lines = [json.loads(line) for line in (tmp_path / "inputs.jsonl").read_text().splitlines()]
    filled = [{**line, toy.KEYS[name]: toy.gold(one)} for line, one in zip(lines, rows, strict=True)]
    for content in ("".join(json.dumps(line) + "\n" for line in filled), json.dumps(filled)):
        assert toy.score(tmp_path, name, content).metrics[toy.METRICS[name]] == pytest.approx(1.0)
    if name == "ner":  # labels of words do not fit into a cell
        assert not (tmp_path / "inputs.tsv").exists()
        return
    header, *table = (tmp_path / "inputs.tsv").read_text().splitlines()
    shown = {"doc": "|".join, "qa": lambda value: value[0]}.get(name, str)
    cells = [row.removesuffix("?") + shown(toy.gold(one)) for row, one in zip(table, rows, strict=True)]
    content = "\n".join([header, *cells]) + "\n"
    assert toy.score(tmp_path, name, content).metrics[toy.METRICS[name]] == pytest.approx(1.0)


def test_both_texts_of_a_pair_are_cells_and_an_absent_one_is_empty(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    pairs = [
        SequenceExample(id=name, document=None, text=f"text {name}", text_pair=pair, label="yes")
        for name, pair in (("1", "its pair"), ("2", None))
    ]
    write_inputs(tmp_path, pairs, toy.recipe(tmp_path, "rel"), plain("{text}"))
    header, *lines = (line.split("\t") for line in (tmp_path / "inputs.tsv").read_text().splitlines())
    assert header == ["id", "text", "text_pair", "prediction"]
    assert [line[:3] for line in lines] == [["1", "text 1", "its pair"], ["2", "text 2", ""]]


def test_predictions_and_mappings_that_were_filled_in_stay(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    inputs = (tmp_path / "inputs", toy.examples("rel"), toy.recipe(tmp_path, "rel"), plain("{text}"))
    inputs[0].mkdir()
    assert write_inputs(*inputs) == write_inputs(*inputs)
    (tmp_path / "inputs/mapping.json").write_text('{"yes": "blocks"}')
    with pytest.raises(PubmillError, match="inputs/mapping.json exists with other content, such as"):
        write_inputs(*inputs)
    assert (tmp_path / "inputs/mapping.json").read_text() == '{"yes": "blocks"}'


def test_a_document_has_its_concepts_and_pairs_and_no_relation(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    entity = Entity(start=0, end=4, type="C", id="D1")
    pairs = [["D1", "G1"]]
    one = RelationsExample(
        id="1", document="1", text="drug", entities=[entity], pairs=pairs, relations=[["D1", "G1", "blocks"]]
    )
    row = row_of(one, toy.recipe(tmp_path, "rel"))
    assert row["arguments"] == [{"start": 0, "end": 4, "type": "C", "id": "D1"}] and row["pairs"] == pairs
    assert (row["id"], row["dataset"], "blocks" in json.dumps(row)) == ("1", "rel", False)
    sentence: Any = toy.examples("rel")[0]
    assert "arguments" in row_of(sentence, toy.recipe(tmp_path, "rel"))
    assert "arguments" not in row_of(replace(sentence, entities=[]), toy.recipe(tmp_path, "rel"))
