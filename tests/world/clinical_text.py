"""Sentences of invented clinical notes, as pieces that know what they mention."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, Lexicon
from tests.world.part import CANARY

Lines = list[list["Piece"]]
Counts = dict[str, int]
SHARES = {"train": (0.0, 0.3), "test": (0.2, 1.0)}
"""Which names may stand in the notes to train (dev comes from these) and to test."""

CONCEPTS = {
    "problem": (DISEASE, ["%", "severe %", "% syndrome", "Chronic %"]),
    "treatment": (CHEMICAL, ["%", "% therapy", "oral %", "IV %"]),
    "test": (GENE, ["%", "serum %", "% level"]),
}
"""Type -> kind of name, and the forms of its mentions."""
_CANARY_SHARE = 0.12
"""How many mentions have the canary for a name: text stands in annotations, too."""


@dataclass(frozen=True)
class Piece:
    """Words, or the mention of a type; `glued`: no blank before it."""

    text: str
    type: str | None = None
    glued: bool = False


def concept(dice: Dice, of: str, names: Lexicon) -> str:
    kind, forms = CONCEPTS[of]
    name = CANARY if dice.chance(_CANARY_SHARE) else dice.pick(names[kind]).name
    return dice.pick(forms).replace("%", name)


def pieces(dice: Dice, template: str, slots: Mapping[str, tuple[str, Sequence[str]]]) -> list[Piece]:
    """A template's pieces. Blanks part them, `~` glues one to the one before, and `%X` is the slot X: its
    type and what may stand in it."""
    found = []
    for before, word in re.findall(r"(^|[ ~])([^ ~]+)", template):
        glued = before == "~"
        if word.startswith("%"):
            of, texts = slots[word[1:]]
            found.append(Piece(dice.pick(texts), of, glued))
        else:
            found.append(Piece(word, None, glued))
    return found


def words(line: Iterable[Piece], types: Sequence[str]) -> list[tuple[str, bool]]:
    """The line's words as (type or "", whether it begins a mention); a mention of these types is cut off
    from what it is glued to."""
    found: list[tuple[str, bool]] = []
    before = ""
    for number, piece in enumerate(line):
        of = piece.type if piece.type in types else None
        new = [(of or "", place == 0 and of is not None) for place in range(len(piece.text.split()))]
        merged = number > 0 and piece.glued and not of and not before
        found += new[1:] if merged else new
        before = of or ""
    return found


def count(notes: Mapping[str, Lines], types: Sequence[str]) -> Counts:
    """Sentences, tokens, mentions and documents of notes, as the specs' `expect` names them."""
    lines = [words(line, types) for note in notes.values() for line in note if line]
    flat = [word for line in lines for word in line]
    mentions = {of: sum(word == (of, True) for word in flat) for of in types}
    return {
        "documents": len(notes),
        "sentences": len(lines),
        "tokens": len(flat),
        "mentions": sum(mentions.values()),
        **{f"mentions.{of}": number for of, number in mentions.items() if number},
    }


def held_out(groups: Iterable[str]) -> set[str]:
    """The tenth, rounded up, that becomes dev by the rule of the specs (share 0.1, seed 1)."""
    ordered = sorted(set(groups), key=lambda group: sha256(b"1:" + group.encode()).hexdigest())
    return set(ordered[: (len(ordered) + 9) // 10])
