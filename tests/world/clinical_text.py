"""Sentences of invented clinical notes, as pieces with their mentions."""

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
"""Shares of names that may occur in training notes (of which dev is a part) and in test notes."""

CONCEPTS = {
    "problem": (DISEASE, ["%", "severe %", "% syndrome", "Chronic %"]),
    "treatment": (CHEMICAL, ["%", "% therapy", "oral %", "IV %"]),
    "test": (GENE, ["%", "serum %", "% level"]),
}
"""Type -> kind of name, and the forms of its mentions."""
_CANARY_SHARE = 0.12
"""Share of mentions whose name is the canary, since annotations contain text too."""


@dataclass(frozen=True)
class Piece:
    """Words, or a mention of a type; `glued`: without a space before it."""

    text: str
    type: str | None = None
    glued: bool = False


def concept(dice: Dice, of: str, names: Lexicon) -> str:
    kind, forms = CONCEPTS[of]
    name = CANARY if dice.chance(_CANARY_SHARE) else dice.pick(names[kind]).name
    return dice.pick(forms).replace("%", name)


def pieces(dice: Dice, template: str, slots: Mapping[str, tuple[str, Sequence[str]]]) -> list[Piece]:
    """Parse a template: spaces separate pieces, `~` joins one to the previous one, `%X` is the slot X, with
    its type and its fillers."""
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
    """Return the line's words as (type or "", whether it begins a mention); mentions of these types are
    separated from the piece before them."""
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
    """Count sentences, tokens, mentions and documents of notes, under the names of the specs' `expect`."""
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
    """Return the tenth, rounded up, that becomes dev by the specs' rule (share 0.1, seed 1)."""
    ordered = sorted(set(groups), key=lambda group: sha256(b"1:" + group.encode()).hexdigest())
    return set(ordered[: (len(ordered) + 9) // 10])
