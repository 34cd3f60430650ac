"""Sentences of invented clinical notes, as pieces with their mentions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.world.dice import Dice
from tests.world.lexicon import CHEMICAL, DISEASE, GENE, Lexicon
from tests.world.part import CANARY

Lines = list[list["Piece"]]
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
