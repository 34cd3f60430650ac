"""Pairs of related mentions or concepts as examples, and what is counted instead of kept."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.annotated_relations import concepts_of, read
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample

TEXT = """\
7|t|Pain and drug and gene.
7|a|New gene.
7\t0\t4\tPain\tDisease\tD1
7\t9\t13\tdrug\tChemical\tC1
7\t18\t22\tgene\tGene\tG1
7\t28\t32\tgene\tGene\tG2
"""
BOTH = [["Chemical", "Disease"], ["Gene", "Gene"]]
OPTIONS = {"form": "pubtator", "pairs": BOTH, "labels": ["a", "b", "c"], "negative": "none"}


def convert(
    folder: Path, *relations: str, text: str = TEXT, **options: Any
) -> tuple[list[SequenceExample], Counter[str]]:
    path, left_out = folder / "train.txt", Counter[str]()
    path.write_text(text + "".join("\t".join(["7", *one.split()]) + "\n" for one in relations))
    source = ConverterInput("train", {"train": path}, {**OPTIONS, **options}, left_out)
    return list(read(source)), left_out


def ids_and_labels(found: list[SequenceExample]) -> list[tuple[str | None, str | None, str]]:
    return [(one.entities[0].id, one.entities[-1].id, one.label) for one in found]


def test_two_mentions_of_a_sentence_are_an_example_in_the_order_of_their_types(tmp_path: Path) -> None:
    found, left_out = convert(tmp_path, "a D1 C1", "b G1 G2", "other C1 D1")
    pain = Entity(start=0, end=4, type="Disease", id="D1")
    drug = Entity(start=9, end=13, type="Chemical", id="C1")
    text = "Pain and drug and gene."
    assert found == [SequenceExample(id="7-1", document="7", text=text, label="a", entities=[drug, pain])]
    # the genes stand in different sentences
    assert left_out == {"relations_of_other_types": 1, "relations_without_a_pair": 1}
    text = TEXT + "7\t24\t27\tNew\tGene\tG3\n"
    [_, other], _ = convert(tmp_path, "b G2 G3", text=text)
    assert (other.id, other.text, other.label) == ("7-2", " New gene.", "b")
    assert [other.text[one.start : one.end] for one in other.entities] == ["New", "gene"]
    [named], left_out = convert(tmp_path, "a C1 D1", "b C1 D1", labels={"a": "causes"})
    assert named.label == "causes" and left_out["relations_of_other_types"] == 1


@pytest.mark.parametrize(("directed", "expected", "left"), [
    (False, [("C1", "D1", "a"), ("G3", "G1", "b")], 0),
    (True, [("C1", "D1", "none"), ("G3", "G1", "none"), ("G1", "G3", "b")], 1),
])  # fmt: skip
def test_directed_relations_have_both_orders_of_one_type_and_the_given_order_of_two(
    tmp_path: Path, directed: bool, expected: list[tuple[str, str, str]], left: int
) -> None:
    text = TEXT + "7\t14\t17\tand\tGene\tG3\n"
    found, left_out = convert(tmp_path, "a D1 C1", "b G1 G3", text=text, directed=directed)
    assert ids_and_labels(found) == expected
    assert left_out["relations_without_a_pair"] == left


@pytest.mark.parametrize(
    ("several", "labels", "further"), [("each", ["a", "b", "c"], 0), ("first", ["a"], 2), ("last", ["c"], 2)]
)
def test_several_labels_may_be_kept(tmp_path: Path, several: str, labels: list[str], further: int) -> None:
    relations = ["a C1 D1", "a D1 C1", "b C1 D1", "c C1 D1"]
    found, left_out = convert(tmp_path, *relations, several=several)
    assert [(one.id, one.label) for one in found] == [(f"7-{n}", label) for n, label in enumerate(labels, 1)]
    assert (left_out["repeated_relations"], left_out["further_labels"]) == (1, further)


def test_two_labels_need_the_option_and_a_repeated_one_does_not(tmp_path: Path) -> None:
    found, left_out = convert(tmp_path, "a C1 D1", "a C1 D1", "a C1 D1")
    assert [one.label for one in found] == ["a"] and left_out["repeated_relations"] == 2
    found, left_out = convert(tmp_path, "a C1 D1")
    assert "repeated_relations" not in left_out
    with pytest.raises(PubmillError) as caught:
        convert(tmp_path, "a C1 D1", "b C1 D1")
    assert str(caught.value) == (
        f"{tmp_path}/train.txt:1: a pair has the labels a, b; give the converter's option `several`: `each`, "
        "`first` or `last`"
    )


def test_two_concepts_of_one_type_have_numbered_types(tmp_path: Path) -> None:
    text = TEXT + "7\t14\t17\tand\tGene\tG2|G1\n"
    found, left_out = convert(tmp_path, "b G2 G1", "c G1 G9", text=text, arguments="concepts")
    assert ids_and_labels(found) == [("C1", "D1", "none"), ("G2", "G1", "b")]
    assert found[0].text == found[1].text == "Pain and drug and gene. New gene."
    assert [(one.start, one.type) for one in found[0].entities] == [(9, "Chemical"), (0, "Disease")]
    # a mention of both concepts belongs to the first
    assert [(one.start, one.type) for one in found[1].entities] == [
        (14, "Gene-1"), (28, "Gene-1"), (18, "Gene-2"),
    ]  # fmt: skip
    assert left_out == {"relations_without_a_pair": 1}


def test_concepts_that_share_mentions_keep_them_and_one_of_two_types_is_no_pair(tmp_path: Path) -> None:
    text = "7|t|Pain.\n7\t0\t4\tPain\tGene\tG1;G2\n"
    [found], _ = convert(tmp_path, text=text, arguments="concepts")
    assert [(one.start, one.type, one.id) for one in found.entities] == [
        (0, "Gene-1", "G1"), (0, "Gene-2", "G2"),
    ]  # fmt: skip
    assert convert(tmp_path, text=text, arguments="concepts", separators="")[0] == []
    text = TEXT.replace("C1", "D1")
    assert convert(tmp_path, text=text, arguments="concepts", pairs=BOTH[:1])[0] == []


def test_relations_of_other_than_two_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PubmillError) as caught:
        convert(tmp_path, "a C1 D1 No")
    assert str(caught.value) == (
        f"{tmp_path}/train.txt:1: a relation of type a has 3 mentions; expected 2. Does the file relate "
        "concepts (the option `arguments`)?"
    )
    nodes = [{"refid": "1"}, {"refid": "2"}]
    document = {"id": "7", "passages": [], "relations": [{"infons": {"type": "a"}, "nodes": nodes}]}
    text = json.dumps({"documents": [document]})
    with pytest.raises(PubmillError, match=r"has 0 concepts; expected 2. Does the file relate mentions \("):
        convert(tmp_path, text=text, form="bioc-json", arguments="concepts")
    found, left_out = convert(tmp_path, text=text, form="bioc-json")
    assert found == [] and left_out == {"relations_without_a_pair": 1}


@pytest.mark.parametrize(("text", "separators", "expected"), [
    ("D1|D2, D1;-", "|,;", ["D1", "D2"]), ("p|SUB|R|3|H", "", ["p|SUB|R|3|H"]), ("-1", "", []), ("", "|", []),
])  # fmt: skip
def test_concepts_of_a_mention_are_named_once(text: str, separators: str, expected: list[str]) -> None:
    assert concepts_of(text, separators) == expected
