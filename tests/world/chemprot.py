"""A miniature ChemProt: BioCreative's four files per split, and SciBERT's form of it.

The verb determines the group of a pair. The corpus contains titles without a full stop, sentences that begin
with a lowercase letter (BLUE joins them), nested mentions, pairs across sentences and pairs with two groups.
"""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, GENE, Lexicon, between
from tests.world.part import Files, slotted

_RAW = "raw.githubusercontent.com/ChrisC1224/ChemProt/fb5bad792138ff6bafa486a2fb90a5b7c31269ac"
_SCIBERT = (
    "raw.githubusercontent.com/allenai/scibert/06793f77d7278898159ed50da30d173cdc8fdea9/"
    "data/text_classification/chemprot"
)
_PARTS = {"train": ("training", ""), "dev": ("development", ""), "test": ("test", "_gs")}
_DOCUMENTS = {"train": 60, "dev": 20, "test": 30}
_FIRST_PMID = {"train": 91_000_001, "dev": 92_000_001, "test": 93_000_001}
_SHARES = {"train": (0.0, 0.5), "dev": (0.5, 0.7), "test": (0.7, 1.0)}

_TEMPLATES = [
    ("{c} activates {g} in the liver", "CPR:3", "ACTIVATOR"),
    ("Expression of {g} is raised by {c}", "CPR:3", "INDIRECT-UPREGULATOR"),
    ("{c} inhibits {g} at low doses", "CPR:4", "INHIBITOR"),
    ("Secretion of {g} is lowered by {c}", "CPR:4", "INDIRECT-DOWNREGULATOR"),
    ("The agonist {c} binds {g}", "CPR:5", "AGONIST"),
    ("The antagonist {c} blocks {g}", "CPR:6", "ANTAGONIST"),
    ("{c} is a substrate of {g}", "CPR:9", "SUBSTRATE"),
    ("The {o} carries it through the membrane", "CPR:9", "SUBSTRATE"),
    ("{c} was given before {g} was measured", "", ""),
    ("Patients with {c} in their blood lacked {g}", "", ""),
    ("Levels of {c} and {g} were not related", "CPR:10", "NOT"),
    ("{c} affects {g} by unknown means", "CPR:2", "REGULATOR"),
    ("{c} inhibits {g}, while {d} was absent", "CPR:4", "INHIBITOR"),
]
"""Templates. `{c}` and `{g}` are the pair, `{d}` is unrelated, `{o}` is a gene whose name contains the
chemical's."""
_EVALUATED = {"CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9"}
_PRODUCT_GROUP = "CPR:3"
"""The group that some inhibitors also have, in an earlier line of the relations."""


class _Mention(NamedTuple):
    id: str
    kind: str
    start: int
    end: int


class _Relation(NamedTuple):
    group: str
    name: str
    chemical: _Mention
    gene: _Mention


@dataclass
class _Document:
    pmid: int
    text: str = ""
    sentences: list[tuple[int, int]] = field(default_factory=list)
    mentions: list[_Mention] = field(default_factory=list)
    relations: list[_Relation] = field(default_factory=list)

    def add(self, dice: Dice, names: Lexicon, between_sentences: str, stop: str) -> None:
        """Add a sentence, its mentions and its relation."""
        template, group, name = dice.pick(_TEMPLATES)
        self.text += between_sentences
        start = len(self.text)
        slots: dict[str, _Mention] = {}
        for piece in slotted(template):
            if piece.startswith("{"):
                slots |= self._mention(dice, names, piece[1])
            else:
                self.text += piece
        self.text += stop
        self.sentences.append((start, len(self.text)))
        if group == "CPR:4" and dice.chance(0.15):
            self.relations.append(_Relation(_PRODUCT_GROUP, "ACTIVATOR", slots["c"], slots["g"]))
        if group:
            self.relations.append(_Relation(group, name, slots["c"], slots["g"]))

    def _mention(self, dice: Dice, names: Lexicon, slot: str) -> dict[str, _Mention]:
        start = len(self.text)
        self.text += dice.pick(names[GENE if slot == "g" else CHEMICAL]).name
        if slot != "o":
            return {slot: self._placed(start, dice, gene=slot == "g")}
        chemical = self._placed(start, dice, gene=False)
        self.text += " transporter"
        return {"c": chemical, "g": self._placed(start, dice, gene=True)}

    def _placed(self, start: int, dice: Dice, *, gene: bool) -> _Mention:
        kind = dice.pick(["GENE-Y", "GENE-Y", "GENE-N"]) if gene else "CHEMICAL"
        self.mentions.append(_Mention(f"T{len(self.mentions) + 1}", kind, start, len(self.text)))
        return self.mentions[-1]


def _document(pmid: int, dice: Dice, names: Lexicon) -> _Document:
    document = _Document(pmid)
    document.add(dice, names, "", "." if dice.chance(0.5) else "")
    for number in range(dice.between(2, 3)):
        document.add(dice, names, " " if number else "\t", ".")
    if dice.chance(0.2):
        first = next(m for m in document.mentions if m.kind == "CHEMICAL")
        last = [m for m in document.mentions if m.kind != "CHEMICAL"][-1]
        if not any((r.chemical, r.gene) == (first, last) for r in document.relations):
            document.relations.append(_Relation("CPR:4", "INHIBITOR", first, last))
    return document


def _raw_files(split: str, documents: list[_Document]) -> Files:
    files = dict.fromkeys(("abstracts", "entities", "relations", "gold_standard"), "")
    for d in documents:
        files["abstracts"] += f"{d.pmid}\t{d.text}\n"
        for m in d.mentions:
            files["entities"] += (
                f"{d.pmid}\t{m.id}\t{m.kind}\t{m.start}\t{m.end}\t{d.text[m.start : m.end]}\n"
            )
        for r in d.relations:
            arguments = f"Arg1:{r.chemical.id}\tArg2:{r.gene.id}"
            evaluated = "Y " if r.group in _EVALUATED else "N "
            files["relations"] += f"{d.pmid}\t{r.group}\t{evaluated}\t{r.name}\t{arguments}\n"
            if r.group in _EVALUATED:
                files["gold_standard"] += f"{d.pmid}\t{r.group}\t{arguments}\n"
    name, end = _PARTS[split]
    return {
        f"{_RAW}/chemprot_{name}{end}/chemprot_{name}_{role}{'' if role == 'gold_standard' else end}.tsv": (
            text.encode()
        )
        for role, text in files.items()
    }


def _scibert(documents: list[_Document]) -> list[str]:
    """Return SciBERT's lines; common words of overlapping mentions are repeated, as in the real files."""
    lines = []
    for d in documents:
        for r in d.relations:
            around = [
                s for s in d.sentences if s[0] <= r.chemical.start < s[1] and s[0] <= r.gene.start < s[1]
            ]
            if r.group in _EVALUATED and around:
                (start, end), text = around[0], d.text
                one, two = sorted((r.gene, r.chemical), key=lambda m: m.start)
                marked = (
                    f"{text[start : one.start]}<< {text[one.start : one.end]} >>{text[one.end : two.start]}"
                    f"[[ {text[two.start : two.end]} ]]{text[two.end : end]}"
                )
                lines.append(json.dumps({"text": marked, "label": r.name, "metadata": []}) + "\n")
    return lines


def part(lexicon: Lexicon, seed: int) -> Files:
    files: Files = {}
    for number, split in enumerate(_PARTS):
        dice, names = Dice(seed + number), between(lexicon, *_SHARES[split])
        documents = [_document(_FIRST_PMID[split] + n, dice, names) for n in range(_DOCUMENTS[split])]
        files |= _raw_files(split, documents)
        files[f"{_SCIBERT}/{split}.txt"] = "".join(_scibert(documents)).encode()
    return files
