"""A miniature DDI corpus: BLURB's source archive, the authors' archive, and BLURB's lists of files.

The words between two drugs determine their interaction. The corpus contains discontinuous overlapping
mentions, a line feed at the end of a text, a sentence without text, and both differences of the archives: a
sentence whose offsets were shifted by damage to its text (one of those in the spec), and an interaction
without a type.
"""

from dataclasses import dataclass, field
from itertools import chain, combinations
from xml.sax.saxutils import quoteattr

from tests.world.archives import tarball, zipped
from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, Lexicon, between
from tests.world.part import Files, slotted

_BLURB = (
    "raw.githubusercontent.com/zhangyijia1979/hierarchical-RNNs-model-for-DDI-extraction/"
    "bedb83d01805a90db9a3ef73ac135e408f1af8f9/DDIextraction2013/DDIextraction_2013.tar.gz"
)
_OFFICIAL = (
    "raw.githubusercontent.com/isegura/DDICorpus/819b0fa538ed83ab2a8b4f5417bba3c03249b7f3/DDICorpus-2013.zip"
)
_LISTS = (
    "raw.githubusercontent.com/hieunguyen7337/KeBioLM/bc7c3667c786236252ba5b26b3b921197465b7a3/indexing/DDI"
)
_FOLDERS = {"train": "train_dataset", "dev": "train_dataset", "test": "test_dataset"}
_OFFICIAL_FOLDERS = {"train_dataset": "Train", "test_dataset": "Test/Test for DDI Extraction task"}
_FILES = {"train": 40, "dev": 14, "test": 20}
_FIRST_NUMBER = {"train": 1001, "dev": 2001, "test": 3001}
_SHARES = {"train": (0.0, 0.5), "dev": (0.5, 0.7), "test": (0.7, 1.0)}
_DAMAGED = {"train": 4, "dev": 68}
"""Numbers of MedLine documents whose first sentence is damaged according to the spec of `ddi@blurb`."""

_TEMPLATES = [
    ("{a} should not be taken together with {b}.", "advise"),
    ("{a} enhances the sedation caused by {b}.", "effect"),
    ("{a} raises the plasma concentration of {b}.", "mechanism"),
    ("An interaction of {a} and {b} has been reported.", "int"),
    ("{a} was compared with {b} in healthy volunteers.", ""), ("Neither {a} nor {b} was found in milk.", ""),
    ("{a} raises the plasma concentration of {b}, but {c} was not studied.", "mechanism"),
    ("The tablets contained {ab}.", ""), ("{a} was well tolerated.", ""),
]  # fmt: skip
"""A sentence. The type is that of `{a}` with `{b}`; other pairs do not interact. `{ab}` is `X and Y salts`:
two mentions, of which the first is discontinuous."""
_TYPES = ["drug", "drug", "brand", "group", "drug_n"]


@dataclass
class _Sentence:
    text: str = ""
    mentions: list[tuple[list[tuple[int, int]], str]] = field(default_factory=list)
    kind: str = ""

    def add(self, dice: Dice, names: Lexicon, slot: str) -> None:
        start = len(self.text)
        first, second = (concept.name for concept in dice.sample(names[CHEMICAL], 2))
        kind = dice.pick(_TYPES)
        self.text += first.capitalize() if kind == "brand" else first
        pieces = [(start, len(self.text))]
        if slot == "ab":
            self.text += f" and {second} salts"
            end = len(self.text)
            pieces.append((end - len("salts"), end))
            self.mentions.append((pieces, "group"))
            pieces = [(end - len(f"{second} salts"), end)]
        self.mentions.append((pieces, kind))


@dataclass
class _File:
    """A document. `damaged`: the first sentence lacks its first character, as in BLURB's archive; `untyped`:
    an interaction has no type, as in the authors', where BLURB's has no interaction."""

    name: str
    id: str
    sentences: list[_Sentence]
    damaged: bool = False
    untyped: bool = False

    def xml(self, *, official: bool) -> str:
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<document id="{self.id}">']
        for number, sentence in enumerate(self.sentences):
            lines += self._sentence(f"{self.id}.s{number}", number, sentence, official)
        return "\n".join([*lines, "</document>", ""])

    def _sentence(self, name: str, number: int, sentence: _Sentence, official: bool) -> list[str]:
        text = sentence.text[self.damaged and number == 0 and not official :]
        lines = [f'    <sentence id="{name}" text={quoteattr(text).replace(chr(10), "&#xa;")}>']
        for place, (pieces, kind) in enumerate(sentence.mentions):
            offsets = ";".join(f"{start}-{end - 1}" for start, end in pieces)
            words = quoteattr(" ".join(sentence.text[start:end] for start, end in pieces))
            lines.append(f'        <entity id="{name}.e{place}" charOffset="{offsets}"')
            lines.append(f'            type="{kind}" text={words}/>')
        for place, (one, two) in enumerate(combinations(range(len(sentence.mentions)), 2)):
            interacts = bool(sentence.kind) and (one, two) == (0, 1)
            how = f'ddi="true" type="{sentence.kind}"' if interacts else 'ddi="false"'
            if self.untyped and official and (number, place) == (0, 0):
                how = 'ddi="true"'
            lines.append(f'        <pair id="{name}.p{place}" e1="{name}.e{one}" e2="{name}.e{two}" {how}/>')
        return [*lines, "    </sentence>"]


def _sentence(dice: Dice, names: Lexicon, template: str, kind: str) -> _Sentence:
    sentence = _Sentence(kind=kind)
    for piece in slotted(template):
        if piece.startswith("{"):
            sentence.add(dice, names, piece[1:-1])
        else:
            sentence.text += piece
    return sentence


def _files(split: str, dice: Dice, names: Lexicon) -> list[_File]:
    files = []
    for number in range(_FIRST_NUMBER[split], _FIRST_NUMBER[split] + _FILES[split]):
        sentences = [_sentence(dice, names, *dice.pick(_TEMPLATES)) for _ in range(dice.between(3, 5))]
        sentences[-1].text += "\n"
        drugbank = dice.chance(0.8)
        base = f"DrugBank/Invented {number}_ddi.xml" if drugbank else f"MedLine/{number}.xml"
        name = f"DDI-{'DrugBank' if drugbank else 'MedLine'}.d{number}"
        files.append(_File(f"{_FOLDERS[split]}/{base}", name, sentences))
    files[0].sentences.append(_Sentence())
    if split == "train":
        files[1].sentences.insert(0, _sentence(dice, names, "{a} is unlike {b}.", ""))
        files[1].untyped = True
    if split in _DAMAGED:
        number = _DAMAGED[split]
        sentence = _sentence(dice, names, "Quoting: {a} enhances the sedation caused by {b}.", "effect")
        place, name = f"train_dataset/MedLine/{number}.xml", f"DDI-MedLine.d{number}"
        files.append(_File(place, name, [sentence], damaged=True))
    return files


def part(lexicon: Lexicon, seed: int) -> Files:
    splits = {
        split: _files(split, Dice(seed + number), between(lexicon, *_SHARES[split]))
        for number, split in enumerate(_FOLDERS)
    }
    blurb: Files = {}
    official = {"DDICorpus/.DS_Store": b"\0\0\0\1Bud1"}
    for file in chain(*splits.values()):
        folder, _, rest = file.name.partition("/")
        blurb[f"DDIextraction_2013/{file.name}"] = file.xml(official=False).encode()
        official[f"DDICorpus/{_OFFICIAL_FOLDERS[folder]}/{rest}"] = file.xml(official=True).encode()
    lists = {
        f"{_LISTS}/{split}_files.tsv": "\n".join(file.name for file in listed).encode()
        for split, listed in splits.items()
    }
    return {_BLURB: tarball(blurb), _OFFICIAL: zipped(official), **lists}
