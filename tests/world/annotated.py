"""Documents in PubTator's form: relations of BC5CDR and BioRED, and NLM-Gene's nested mentions.

The words between two names show how they are related, and those after a gene what it names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, ORGANISM, Concept, Lexicon
from tests.world.part import Files

_RAW = "raw.githubusercontent.com"
_BIORED = f"{_RAW}/yookontian/RE_on_BioRED/2b9a518e9ce72003beb3a2e755169d425ecdeaf5/data/BioRED"
_BC5CDR = f"{_RAW}/kingsaint/BioMedical-EL/7d4c20530a47572094423f5e49261069a2df16c9/data/BC5CDR/raw_data"
_AIONER = f"{_RAW}/ncbi/AIONER/b8fa941dc8f49e1c99756832da0c61e9c58dcef8/data/pubtator"
_TYPES = {
    CHEMICAL: "ChemicalEntity", DISEASE: "DiseaseOrPhenotypicFeature", GENE: "GeneOrGeneProduct",
    ORGANISM: "OrganismTaxon",
}  # fmt: skip
_STATED = [
    ("%C relieved %D in %O.", "Negative_Correlation"), ("%G caused %D in %O.", "Positive_Correlation"),
    ("%G is a marker of %D in %O.", "Association"), ("%C binds %G in vitro.", "Bind"),
    ("%C was given with %C daily.", "Cotreatment"), ("%C was compared with %C in patients.", "Comparison"),
    ("%C raised the level of %C in blood.", "Drug_Interaction"),
    ("%C is metabolized to %C by the liver.", "Conversion"), ("%C was measured, and %D was common.", None),
    ("%G was normal, and %D was rare.", None),
]  # fmt: skip
"""Sentences, each with the relation of its first two names."""
_INDUCED = [
    ("%C induced %D.", "CID"), ("%D was caused by %C.", "CID"), ("%C relieved %D.", None),
    ("%C was given in %D.", None), ("%C was measured, and %D was common.", None),
]  # fmt: skip
_NAMED = {
    "%G": "Gene", "%G family": "FamilyName", "%G cells": "Cell", "%G domain": "DomainMotif",
    "%G locus": "ChromosomeLocation",
}  # fmt: skip
"""What a gene and the word after it name; a gene is also a mention of its own in it, but not in a domain."""
_SAID = [
    "We studied {}.", "The {} were examined in mice.", "Loss of {} was lethal.", "No {} was found in {}.",
]  # fmt: skip
_SLOTS = {"%C": CHEMICAL, "%D": DISEASE, "%G": GENE, "%O": ORGANISM}
_DOCUMENTS = {"train": 60, "dev": 15, "test": 20}
_OF_BC5CDR = {CHEMICAL: "Chemical", DISEASE: "Disease"}


@dataclass
class _Document:
    """A document while it is written; its last sentences are the abstract."""

    name: int
    text: str = ""
    lines: list[tuple[int, int, str, str]] = field(default_factory=list)
    related: set[tuple[str, str, str]] = field(default_factory=set)

    def say(self, text: str) -> None:
        self.text += text

    def mention(self, text: str, kind: str, concept: str) -> None:
        self.lines.append((len(self.text), len(self.text) + len(text), kind, concept))
        self.text += text

    def written(self) -> str:
        """Return the document in PubTator's form; its title is the first sentence."""
        title, _, abstract = self.text.partition("\n")
        rows = [f"{self.name}|t|{title}", f"{self.name}|a|{abstract}"]
        for start, end, kind, concept in sorted(self.lines):
            rows.append(f"{self.name}\t{start}\t{end}\t{self.text[start:end]}\t{kind}\t{concept}")
        for first, second, label in sorted(self.related):
            novel = "" if label == "CID" else "\tNovel"
            rows.append(f"{self.name}\t{label}\t{first}\t{second}{novel}")
        return "\n".join(rows) + "\n\n"


def part(lexicon: Lexicon, seed: int) -> Files:
    files = _nlm_gene(lexicon, seed + 10)
    for number, (split, count) in enumerate(_DOCUMENTS.items()):
        dice = Dice(seed + number)
        names = range(1000 * (number + 1), 1000 * (number + 1) + count)
        made = [_related(dice, lexicon, name, _STATED, _TYPES) for name in names]
        files[f"{_BIORED}/{split.title()}.PubTator"] = _written(made)
        dice = Dice(seed + 20 + number)
        names = range(10_000 * (number + 1), 10_000 * (number + 1) + count)
        made = [_related(dice, lexicon, name, _INDUCED, _OF_BC5CDR) for name in names]
        files[f"{_BC5CDR}/{split}_corpus.txt"] = _written(made)
    return files


def _written(documents: list[_Document]) -> bytes:
    return "".join(one.written() for one in documents).encode()


def _identifier(lexicon: Lexicon, concept: Concept) -> str:
    return f"{concept.kind[0]}{lexicon[concept.kind].index(concept)}"


def _related(
    dice: Dice, lexicon: Lexicon, name: int, stated: Sequence[tuple[str, str | None]], types: dict[str, str]
) -> _Document:
    """Return a document of three sentences, in which no two names occur twice."""
    document = _Document(name)
    left = {kind: dice.sample(lexicon[kind], 6) for kind in _SLOTS.values()}
    for place, (sentence, label) in enumerate(dice.sample(stated, 3)):
        document.say("" if place == 0 else "\n" if place == 1 else " ")
        found = []
        for piece in re.split(r"(%[CDGO])", sentence):
            if piece in _SLOTS:
                concept = left[_SLOTS[piece]].pop()
                found.append(_identifier(lexicon, concept))
                document.mention(concept.name, types[concept.kind], found[-1])
            else:
                document.say(piece)
        if label:
            first, second = sorted(found[:2]) if label == "CID" else found[:2]
            document.related.add((first, second, label))
    return document


def _nlm_gene(lexicon: Lexicon, seed: int) -> Files:
    files = {}
    for number, (split, count) in enumerate({"Train": 40, "Test": 16}.items()):
        dice = Dice(seed + number)
        documents = [_nested(dice, lexicon, 5000 + 1000 * number + n) for n in range(count)]
        files[f"{_AIONER}/NLMgene_{split}.PubTator"] = _written(documents)
    return files


def _nested(dice: Dice, lexicon: Lexicon, name: int) -> _Document:
    """Return a document of four sentences."""
    document = _Document(name)
    for place in range(4):
        document.say("" if place == 0 else "\n" if place == 1 else " ")
        for number, piece in enumerate(dice.pick(_SAID).split("{}")):
            if number:
                _name(dice, lexicon, document)
            document.say(piece)
    return document


def _name(dice: Dice, lexicon: Lexicon, document: _Document) -> None:
    words, kind = dice.pick(list(_NAMED.items()))
    gene, start = dice.pick(lexicon[GENE]), len(document.text)
    if kind in ("Gene", "DomainMotif"):
        document.mention(words.replace("%G", gene.name), kind, _identifier(lexicon, gene))
        return
    document.mention(gene.name, "Gene", _identifier(lexicon, gene))
    document.say(words.removeprefix("%G"))
    document.lines.append((start, len(document.text), kind, ""))
