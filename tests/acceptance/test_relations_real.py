"""ChemProt and DDI from their real files: published counts and bytes, and differences between variants."""

from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pubmill.convert.exports import publish
from pubmill.examples.argument_transforms import dummies, markers
from pubmill.examples.kinds import SequenceExample
from pubmill.storage.archives import members
from pubmill.storage.files import read_json
from tests.acceptance.conftest import Converted, examples_of, mostly_weekly
from tests.dataset_specs import inputs_of, published_of, spec_of

SPLITS = ("train", "dev", "test")
MADE = ("chemprot@blurb", "chemprot@blue", "ddi@blurb", "ddi@official", "ddi@blue")
MARKS = (("[E1] ", " [/E1]"), ("[E2] ", " [/E2]"))


def examples(converted: Converted, name: str, split: str) -> dict[str, SequenceExample]:
    return {e.id: e for e in examples_of(converted(name), split, SequenceExample)}


@pytest.mark.parametrize(
    ("name", "counts"), [("chemprot@blurb", (18035, 11268, 15745)), ("ddi@blurb", (25296, 2496, 5716))]
)
def test_counts_and_bytes_are_those_of_blurb(
    name: str, counts: tuple[int, ...], converted: Converted, shared: Path, tmp_path: Path
) -> None:
    found = read_json(converted(name) / "card.json")["counts"]
    assert tuple(found[split]["examples"] for split in SPLITS) == counts
    reported = publish(published_of(name), converted(name), tmp_path)
    assert [reported[split]["equal"] for split in SPLITS] == [True, True, True]
    oracle = shared / "oracles" / name.partition("@")[0] / "dev.tsv"
    assert (tmp_path / "dev.tsv").read_bytes() == oracle.read_bytes()


@pytest.mark.weekly
def test_what_the_two_ddi_archives_differ_in(converted: Converted) -> None:
    texts, rows = [], []
    labels: dict[str, tuple[str, str | None]] = {}
    for split in SPLITS:
        blurb, official = (examples(converted, f"ddi@{form}", split) for form in ("blurb", "official"))
        texts.append(sum(blurb[name].text != official[name].text for name in official))
        labels |= {
            name: (example.label, official[name].label if name in official else None)
            for name, example in blurb.items()
            if name not in official or example.label != official[name].label
        }
        rows.append(sum(official.get(name) != example for name, example in blurb.items()))
        assert official.keys() <= blurb.keys()
    assert texts == [64, 21, 0]
    assert rows == [67, 21, 0]
    assert labels == {
        "DDI-DrugBank.d266.s0.p1": ("DDI-false", "DDI-mechanism"),
        "DDI-DrugBank.d266.s0.p2": ("DDI-mechanism", "DDI-false"),
        "DDI-DrugBank.d236.s29.p0": ("DDI-false", None),
    }


def dummied(examples: dict[str, SequenceExample], form: str) -> dict[str, str]:
    """Return the texts with the dummies of a form's spec."""
    stand_ins = spec_of(form).dummies
    assert stand_ins is not None
    return {
        name: dummies(e.text, e.entities, stand_ins.types, stand_ins.overlap).text
        for name, e in examples.items()
    }


@pytest.mark.weekly
def test_what_blue_and_blurb_differ_in_beside_the_words_of_their_dummies(converted: Converted) -> None:
    rows = []
    together: dict[str, list[int]] = {"ddi@blurb": [], "ddi@blue": []}
    for split in SPLITS:
        found = {form: examples(converted, form, split) for form in together}
        blurb, blue = found.values()
        assert list(blurb) == list(blue)
        pairs = zip(dummied(blurb, "ddi@blurb").items(), dummied(blue, "ddi@blurb").items(), strict=True)
        rows.append(sum(one != other for one, other in pairs))
        for form, of in found.items():
            spans = [[(e.start, e.end) for e in example.entities] for example in of.values()]
            together[form].append(sum(max(one[0], two[0]) < min(one[1], two[1]) for one, two in spans))
    assert rows == [120, 9, 28]
    assert together == {"ddi@blurb": [44, 3, 7], "ddi@blue": [1, 0, 1]}


@pytest.mark.weekly
def test_inputs_of_ddi_are_those_that_blues_rules_give(converted: Converted, shared: Path) -> None:
    inputs = inputs_of("ddi@blue", shared / "mirror")
    expected: dict[str, str] = {}
    for name, content in members(inputs["archive"]):
        if name.endswith(".xml"):
            for sentence in etree.fromstring(content).iter("sentence"):
                expected |= by_blues_rules(sentence)
    made: dict[str, str] = {}
    for split in SPLITS:
        made |= dummied(examples(converted, "ddi@blue", split), "ddi@blue")
    assert len(made) == 25296 + 2496 + 5716
    assert made.keys() == expected.keys()
    assert [name for name, text in made.items() if text != expected[name]] == []


def by_blues_rules(sentence: Any) -> dict[str, str]:
    """Return pair -> its text as in blue/bert/create_ddi_bert.py, with a space for each line end and tab.

    Only first pieces are used; mentions that overlap or touch become one dummy.
    """
    text = "".join(" " if c in "\t\r\n" else c for c in sentence.attrib["text"])
    mentions = {}
    for entity in sentence.iter("entity"):
        first, last = entity.attrib["charOffset"].split(";")[0].split("-")
        mentions[entity.attrib["id"]] = (int(first), int(last) + 1, entity.attrib["type"])
    inputs = {}
    for pair in sentence.iter("pair"):
        one, other = (mentions[pair.attrib[end]] for end in ("e1", "e2"))
        (start, middle, kind), (next_start, end, next_kind) = sorted((one, other))
        if next_start <= middle:
            made = text[:start] + f"@{one[2]}-{other[2]}$" + text[max(middle, end) :]
        else:
            made = text[:start] + f"@{kind}$" + text[middle:next_start] + f"@{next_kind}$" + text[end:]
        inputs[pair.attrib["id"]] = made
    return inputs


@pytest.mark.parametrize("name", mostly_weekly(MADE, "ddi@blurb"))
def test_spans_point_at_their_mentions_after_every_transform(name: str, converted: Converted) -> None:
    stand_ins = spec_of(name).dummies
    assert stand_ins is not None
    words = [dummy.strip("@$") for dummy in stand_ins.types.values()]
    together = {
        stand_ins.overlap.replace("{}", one, 1).replace("{}", other, 1) for one in words for other in words
    }
    known = {*stand_ins.types.values(), *together}
    for split in SPLITS:
        for example in examples(converted, name, split).values():
            text, entities = example.text, example.entities
            said = [text[e.start : e.end] for e in entities]
            marked = markers(text, entities, MARKS)
            bare = [marked.text[start:end] for start, end in marked.spans]
            for mark in (mark for pair in MARKS for mark in pair):
                bare = [mention.replace(mark, "") for mention in bare]
            assert bare == said
            replaced = dummies(text, entities, stand_ins.types, stand_ins.overlap)
            assert {replaced.text[start:end] for start, end in replaced.spans} <= known
            assert all(said) and not any(c in text for c in "\t\r\n")
