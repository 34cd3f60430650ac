"""Invented names: chemicals, diseases and genes, and other nouns made from the same morphemes.

The ending of a name only suggests its kind: each kind prefers some endings, but every ending occurs in every
kind, and tissues, organisms and techniques (which no dataset labels) are named in the same way. The kind of a
name has to be learnt from its context.
"""

from dataclasses import dataclass

from tests.world.dice import Dice

CHEMICAL, DISEASE, GENE = "Chemical", "Disease", "Gene"
TISSUE, ORGANISM, TECHNIQUE = "Tissue", "Organism", "Technique"
KINDS = {CHEMICAL: 150, DISEASE: 150, GENE: 150, TISSUE: 40, ORGANISM: 40, TECHNIQUE: 40}
"""Number of names of each kind."""

_ONSETS = "b br c cr d dr f fl g gl k l m n p ph pl r s st t th tr v x z".split()
_VOWELS = "a e i o u".split()
_CODAS = ["", "", "", "l", "m", "n", "r", "s", "x"]
_ENDINGS = "ine in ol ia an ate ase osis ema or ide is".split()
_PREFERRED = {
    CHEMICAL: "ine ol ide ate".split(), DISEASE: "ia osis ema is".split(), GENE: "in ase or an".split(),
}  # fmt: skip
_PREFERENCE = 0.35


@dataclass(frozen=True)
class Concept:
    """A concept with a name and the abbreviation that its papers use."""

    kind: str
    name: str
    abbreviation: str


Lexicon = dict[str, list[Concept]]


def _name(dice: Dice, kind: str) -> str:
    syllables = [dice.pick(_ONSETS) + dice.pick(_VOWELS) for _ in range(dice.between(1, 2))]
    preferred = _PREFERRED.get(kind)
    endings = preferred if preferred and dice.chance(_PREFERENCE) else _ENDINGS
    return "".join(syllables) + dice.pick(_CODAS) + dice.pick(_ONSETS) + dice.pick(endings)


def _abbreviation(dice: Dice, name: str) -> str:
    consonants = [letter for letter in name if letter not in "aeiou"]
    letters = (consonants[0] + consonants[-1] + chr(97 + dice.below(26))).upper()
    return letters + (str(dice.between(1, 9)) if dice.chance(0.5) else "")


def make_lexicon(seed: int) -> Lexicon:
    """Invent all names; names and abbreviations are unique."""
    dice = Dice(seed)
    taken: set[str] = set()

    def unused(invent: str, kind: str = "") -> str:
        while True:
            word = _abbreviation(dice, invent) if invent else _name(dice, kind)
            if word.lower() not in taken:
                taken.add(word.lower())
                return word

    lexicon: Lexicon = {kind: [] for kind in KINDS}
    for kind, number in KINDS.items():
        for _ in range(number):
            name = unused("", kind)
            lexicon[kind].append(Concept(kind, name, unused(name)))
    return lexicon


def between(lexicon: Lexicon, start: float, stop: float) -> Lexicon:
    """Return the names of each kind from one share of the list to another (0 to 1)."""
    return {
        kind: concepts[round(start * len(concepts)) : round(stop * len(concepts))]
        for kind, concepts in lexicon.items()
    }
