"""The relation datasets that are made from their raw files: ChemProt and DDI, with their variants."""

from tests.world.chemprot import chemprot
from tests.world.ddi import ddi
from tests.world.lexicon import Lexicon
from tests.world.part import Part


def part(lexicon: Lexicon, seed: int) -> Part:
    """All files, and what each dataset's spec must expect."""
    return Part(*chemprot(lexicon, seed)).joined(Part(*ddi(lexicon, seed + 100)))
