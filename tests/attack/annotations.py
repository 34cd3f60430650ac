"""Attacks on annotated text: annotations that a model does not predict stay, and runs are repeatable."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.attack import attack
from tests.unit.prediction.toy_annotators import annotated, relater, tagger
from tests.world.dice import Dice

WORDS = ("Ann", "Bob", "binds", "é", "😀", "gene", "drug")
TYPES, RELATIONS = ("Name", "drug", "gene", "x y"), ("binds", "other", "CID")
"""The first of each is what the made-up models predict (tagger, relater)."""


@dataclass(frozen=True)
class Made:
    """A document: its words, mentions as (start, end, type, identifier), relations as (type, identifiers)."""

    text: str
    mentions: list[tuple[int, int, str, str]]
    relations: list[tuple[str, list[str]]]

    def staying(self, tags: bool) -> tuple[list[Any], list[Any]]:
        """Return the mentions and relations that must remain after a run of the tagger or of the relater."""
        if not tags:
            return self.mentions, [one for one in self.relations if one[0] != RELATIONS[0]]
        kept = [one for one in self.mentions if one[2] != TYPES[0]]
        gone = {one[3] for one in self.mentions} - {one[3] for one in kept}
        return kept, [one for one in self.relations if not gone & set(one[1])]


def make(dice: Dice, unique: bool) -> Made:
    """`unique`: each mention has an identifier of its own, as BioC has it; PubTator's are of concepts."""
    words = [dice.pick(WORDS) for _ in range(dice.between(1, 12))]
    starts = [sum(len(word) + 1 for word in words[:number]) for number in range(len(words))]
    mentions = []
    for number in range(dice.below(8)):
        first = dice.below(len(words))
        last = min(len(words) - 1, first + dice.below(3))
        name = f"T{number + 1}" if unique else f"C{dice.below(4)}"
        mentions.append((starts[first], starts[last] + len(words[last]), dice.pick(TYPES), name))
    names = [mention[3] for mention in mentions] or ["C9"]
    related = [(dice.pick(RELATIONS), [dice.pick(names), dice.pick(names)]) for _ in range(dice.below(5))]
    return Made(" ".join(words), mentions, related)


def as_pubtator(made: Made) -> str:
    lines = [*_mention_lines(made, made.mentions), *_relation_lines(made.relations)]
    return "\n".join([f"1|t|{made.text}", "1|a|", *lines]) + "\n\n"


def _mention_lines(made: Made, mentions: list[Any]) -> Iterator[str]:
    yield from (f"1\t{s}\t{e}\t{made.text[s:e]}\t{kind}\t{name}" for s, e, kind, name in mentions)


def _relation_lines(relations: list[Any]) -> Iterator[str]:
    yield from ("\t".join(["1", kind, *names]) for kind, names in relations)


def as_bioc(made: Made) -> str:
    passage = {
        "offset": 0, "text": made.text, "annotations": _annotations(made, made.mentions),
        "relations": _related(made.relations),
    }  # fmt: skip
    return json.dumps({"documents": [{"id": "1", "passages": [passage]}]})


def _annotations(made: Made, mentions: list[Any]) -> list[dict[str, Any]]:
    return [
        {"id": name, "infons": {"type": kind, "identifier": "D1"}, "text": made.text[start:end],
         "locations": [{"offset": start, "length": end - start}]}
        for start, end, kind, name in mentions
    ]  # fmt: skip


def _related(relations: list[Any]) -> list[dict[str, Any]]:
    nodes = [[{"refid": name, "role": ""} for name in names] for _, names in relations]
    return [
        {"id": f"old{kind}{names}", "infons": {"type": kind}, "nodes": of}
        for (kind, names), of in zip(relations, nodes, strict=True)
    ]


@attack("annotations-pubtator", cases=2_000)
def kept_in_pubtator(dice: Dice, folder: Path) -> str:
    """PubTator files that other taggers annotated, through a model of mentions or relations, twice: what the
    model doesn't predict stays line by line; the second run gives the same bytes."""
    made, tags = make(dice, unique=False), dice.chance(0.6)
    out = _twice(tags, folder, "pubtator", as_pubtator(made))
    mentions, relations = made.staying(tags)
    wanted = Counter([*_mention_lines(made, mentions), *_relation_lines(relations)])
    return _lost(wanted, Counter(out.splitlines()))


@attack("annotations-bioc", cases=2_000)
def kept_in_bioc(dice: Dice, folder: Path) -> str:
    """BioC files with overlapping mentions by other taggers, annotated twice by a model: what the model
    doesn't predict stays as it is; the second run gives the same bytes."""
    made, tags = make(dice, unique=True), dice.chance(0.6)
    out = json.loads(_twice(tags, folder, "bioc-json", as_bioc(made)))
    [passage] = out["documents"][0]["passages"]
    nodes = [*passage["annotations"], *passage["relations"]]
    names = Counter(node["id"] for node in passage["annotations"])
    mentions, relations = made.staying(tags)
    wanted = Counter(map(json.dumps, [*_annotations(made, mentions), *_related(relations)]))
    return _lost(wanted, Counter(map(json.dumps, nodes))) or (
        "an identifier stands there twice" if any(number > 1 for number in names.values()) else ""
    )


def _twice(tags: bool, folder: Path, form: str, content: str) -> str:
    """Return the output of a run, after a check that a second run writes the same."""
    model = tagger if tags else relater
    out = annotated(model(), folder, form, content)
    assert annotated(model(), folder, form, out) == out, "a second run gives other bytes"
    return out


def _lost(wanted: Counter[str], found: Counter[str]) -> str:
    lost = wanted - found
    return f"{lost.total()} of {wanted.total()} annotations are lost or changed" if lost else ""
