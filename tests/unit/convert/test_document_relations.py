"""Documents with relations between concepts, from PubTator and BioC, and what is counted instead of kept."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert import document_relations
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import RelationsExample

FILE = """\
7|t|Old drug and pain.
7|a|Drug and new gene. Pain.
7\t4\t8\tdrug\tChemical\tC2
7\t13\t17\tpain\tDisease\tD1|D3
7\t19\t23\tDrug\tChemical\tC2
7\t28\t36\tnew gene\tGene\tG1
7\t32\t36\tgene\tGene\tG0
7\t38\t42\tPain\tDisease\tD1
7\tcauses\tC2\tD1\tNovel
7\tcauses\tD3\tC2\tNo
7\tcauses\tC9\tC1\tNo
7\tbinds\tG1\tG0\tNo
7\tbinds\tG0\tG0\tNovel
7\tbinds\tG1,G0\tC2\tNo
7\tother\tG1\tG0\tNo

"""
PAIRS = [["Chemical", "Disease"], ["Gene", "Gene"]]
OPTIONS = {"form": "pubtator", "pairs": PAIRS, "labels": ["causes", "binds"], "novelty": True}
SHORT = "7|t|drug pain\n7\t0\t4\tdrug\tChemical\tC2\n7\t5\t9\tpain\tDisease\tD1\n"


def read(folder: Path, text: str = FILE, **options: Any) -> tuple[list[RelationsExample], Counter[str]]:
    path, left_out = folder / "train.txt", Counter[str]()
    path.write_text(text)
    source = ConverterInput("train", {"train": path}, {**OPTIONS, **options}, left_out)
    return list(document_relations.read(source)), left_out


def test_concepts_are_pairs_in_the_order_of_their_types_or_names(tmp_path: Path) -> None:
    [found], left_out = read(tmp_path)
    assert found.fault() is None and found.id == found.document == "7"
    assert found.text == "Old drug and pain. Drug and new gene. Pain."
    assert found.pairs == [["C2", "D1"], ["C2", "D3"], ["G0", "G1"]]
    assert [(one.start, one.id) for one in found.entities] == [
        (4, "C2"), (13, "D1"), (13, "D3"), (19, "C2"), (28, "G1"), (32, "G0"), (38, "D1"),
    ]  # fmt: skip
    assert found.relations == [
        ["C1", "C9", "causes", "No"],  # without mentions, so nothing can find it; but it counts
        ["C2", "D1", "causes", "Novel"],
        ["C2", "D3", "causes", "No"],
        ["G0", "G0", "binds", "Novel"],
        ["G0", "G1", "binds", "No"],
    ]
    assert left_out == {"relations_of_other_types": 1, "relations_of_other_pairs": 2}
    twice, _ = read(tmp_path, FILE * 2)
    assert [one.id for one in twice] == ["7", "7-2"] and twice[1].document == "7"


def test_mentions_are_pairs_within_a_sentence_and_their_relation_counts(tmp_path: Path) -> None:
    text = FILE.partition("7\tcauses")[0] + "7\tcauses\tC2\tD1|D3\n"
    [found], _ = read(tmp_path, text, arguments="mentions", novelty=False, sentences="stops")
    assert found.pairs == [["C2", "D1|D3"], ["G0", "G1"]]
    assert found.relations == [["C2", "D1|D3", "causes"]]
    text = "7|t|Old drug\n7|a|new pain\n7\t4\t8\tdrug\tChemical\tC2\n7\t13\t17\tpain\tDisease\tD1\n"
    options = {"arguments": "mentions", "novelty": False}
    [found], left_out = read(tmp_path, text + "7\tcauses\tC2\tD1\n", **options)
    assert (found.pairs, found.relations, left_out) == ([], [["C2", "D1", "causes"]], {})
    # in one line, mentions at its first and last character are a pair
    [found], _ = read(tmp_path, SHORT + "7\tcauses\tD9\tC2\n", **options)
    assert found.pairs == [["C2", "D1"]]
    # an argument that is no mention stays where it is
    assert found.relations == [["D9", "C2", "causes"]]
    [found], _ = read(tmp_path, SHORT + "7\tcauses\tD9\tC2\n", novelty=False)
    assert found.relations == [["C2", "D9", "causes"]]


def test_novelty_is_an_infon_of_bioc(tmp_path: Path) -> None:
    mentions = [
        {
            "text": text,
            "infons": {"type": kind, "identifier": name},
            "locations": [{"offset": at, "length": 4}],
        }
        for at, text, kind, name in ((4, "drug", "Chemical", "C2"), (13, "pain", "Disease", "D1"))
    ]
    infons = {"entity1": "D1", "entity2": "C2", "type": "causes", "novel": "Novel"}
    passage = {"offset": 0, "text": "Old drug and pain.", "annotations": mentions}
    document = {"id": "7", "passages": [passage], "relations": [{"id": "R0", "infons": infons, "nodes": []}]}
    text = json.dumps({"documents": [document]})
    [found], _ = read(tmp_path, text, form="bioc-json")
    assert found.relations == [["C2", "D1", "causes", "Novel"]]
    with pytest.raises(PubmillError, match="infon `novel`"):
        read(tmp_path, text.replace(', "novel": "Novel"', ""), form="bioc-json")


@pytest.mark.parametrize(("line", "options", "message"), [
    ("7\tcauses\tC2\tD1", {}, "must be Novel or No"),
    ("7\tcauses\tC2\tD1\tperhaps", {}, "must be Novel or No"),
    ("7\tcauses\tC2\tD1\tNo", {"arguments": "mentions"}, "has 3 mentions; expected 2"),
    ("7\tcauses\tC2\tD1\tNo", {"pairs": None}, "pairs: "),
    ("7\tcauses\tC2\tD1\tNo", {"labels": None}, "labels: "),
])  # fmt: skip
def test_contradictions_are_refused(tmp_path: Path, line: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        read(tmp_path, FILE.partition("7\tcauses")[0] + line + "\n", **options)


def test_equal_relations_are_kept_once_and_labels_and_arguments_may_be_several(tmp_path: Path) -> None:
    lines = ["causes\tC2\tD1", "causes\tD1\tC2", "causes\tC2\tD1", "binds\tC2\tD1"]
    text = SHORT + "".join(f"7\t{line}\n" for line in lines)
    [found], left_out = read(tmp_path, text, novelty=False)
    assert found.relations == [["C2", "D1", "binds"], ["C2", "D1", "causes"]]
    assert left_out == {"repeated_relations": 2}
    [found], left_out = read(tmp_path, text.partition("7\tcauses")[0] + "7\tcauses\tC2\tD1\n", novelty=False)
    assert found.relations == [["C2", "D1", "causes"]] and not left_out
    text = SHORT + "7\tcauses\tC2,C5;C2\tD1|D4\n7\tbinds\tC2\tD1\n"
    [found], left_out = read(tmp_path, text, novelty=False, labels={"causes": "CID"})
    assert found.relations == [[one, other, "CID"] for one in ("C2", "C5") for other in ("D1", "D4")]
    assert left_out == {"relations_of_other_types": 1}
    [found], _ = read(tmp_path, text, novelty=False, labels=["binds"], separators=",")
    assert found.relations == [["C2", "D1", "binds"]]


def test_a_concept_of_two_types_is_in_a_pair_by_either(tmp_path: Path) -> None:
    text = SHORT.replace("Chemical", "Species") + "7\t0\t4\tdrug\tChemical\tC2\n"
    [found], _ = read(tmp_path, text + "7\tcauses\tD1\tC2\n", novelty=False)
    assert found.pairs == [["C2", "D1"]] and found.relations == [["C2", "D1", "causes"]]
    assert [one.type for one in found.entities] == ["Species", "Chemical", "Disease"]
    [found], left_out = read(tmp_path, text + "7\tcauses\tD1\tC2\n", novelty=False, pairs=[["Gene", "Gene"]])
    assert (found.pairs, found.relations, left_out) == ([], [], {"relations_of_other_pairs": 1})
