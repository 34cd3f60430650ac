"""Relation datasets made from their raw files: ChemProt and DDI, with their variants."""

from tests.world.chemprot import chemprot
from tests.world.ddi import ddi
from tests.world.lexicon import Lexicon
from tests.world.part import Part


def part(lexicon: Lexicon, seed: int) -> Part:
    """Return all files, and the expected counts of each dataset."""
    return Part(*chemprot(lexicon, seed)).joined(Part(*ddi(lexicon, seed + 100)))
