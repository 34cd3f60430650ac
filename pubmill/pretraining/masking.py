"""Which tokens are hidden from the model, and what stands in their place.

Devlin et al. (2019), section 3.1 and its `create_pretraining_data.py` (with `--do_whole_word_mask`); gu2020
sections 2.3 and 2.4. A word is a first piece with the pieces that continue it; what replaces each of its
tokens is drawn for each token by itself, as there. Unlike there, how many are masked is not rounded: the
word at which the budget of a sequence runs out is taken with the probability that makes the expected
share exact.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.recipes import Objective

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True)
class Vocabulary:
    """What masking knows of a WordPiece vocabulary: `continues` (vocabulary,) marks the `##` pieces."""

    continues: Flags
    ordinary: Ints
    mask: int

    @property
    def size(self) -> int:
        """The number of ids."""
        return len(self.continues)


def read_vocabulary(folder: Path) -> Vocabulary:
    """Read `vocab.txt` of a WordPiece tokenizer's folder."""
    path = folder / "vocab.txt"
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; whole words are known from a WordPiece vocabulary only")
    pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    missing = [piece for piece in SPECIAL if piece not in pieces]
    if missing:
        raise PubmillError(f"{path} lacks {', '.join(missing)}")
    continues = np.array([piece.startswith("##") and len(piece) > 2 for piece in pieces])
    ordinary = np.array([number for number, piece in enumerate(pieces) if piece not in SPECIAL])
    return Vocabulary(continues, ordinary, pieces.index("[MASK]"))


@dataclass(frozen=True)
class Masked:
    """Inputs with some tokens hidden: `ids` (tokens,), and where (`positions`) which ids (`labels`) were."""

    ids: Ints
    positions: Ints
    labels: Ints


def word_starts(ids: Ints, inner: Flags, vocabulary: Vocabulary) -> Flags:
    """True where a word begins: at a piece that continues nothing, or the first piece of a segment."""
    after_special = np.concatenate([[True], ~inner[:-1]])
    starts: Flags = inner & (~vocabulary.continues[ids] | after_special)
    return starts


def choose_tokens(
    starts: Flags, inner: Flags, lengths: Ints, rate: float, random: np.random.Generator
) -> Ints:
    """Positions (sorted) of the tokens of randomly chosen units, on average `rate` of each sequence's tokens.

    `starts` marks where a unit begins (a whole word, or each token), `inner` what may be chosen;
    `lengths` are the sequences' in tokens.
    """
    positions = np.flatnonzero(inner)
    unit = np.cumsum(starts[positions]) - 1
    size = np.bincount(unit)
    sequence = np.repeat(np.arange(len(lengths)), lengths)[positions]
    budget = rate * np.bincount(sequence, minlength=len(lengths))
    owner = sequence[starts[positions]]
    order = np.lexsort((random.random(len(size)), owner))
    before = np.cumsum(size[order]) - size[order]
    first_of_owner = np.searchsorted(owner[order], owner[order])
    before -= before[first_of_owner]
    # the last word is taken with a probability of (budget left) / (its size)
    share = random.random(len(lengths))[owner[order]]
    chosen = np.zeros(len(size), bool)
    chosen[order] = before + share * size[order] < budget[owner[order]]
    picked: Ints = positions[chosen[unit]]
    return picked


def mask(
    ids: Ints,
    inner: Flags,
    lengths: Ints,
    vocabulary: Vocabulary,
    objective: Objective,
    random: np.random.Generator,
) -> Masked:
    """Hide tokens of sequences laid end to end (see `instances.Batch`); [CLS] and [SEP] are never chosen.

    Of the chosen tokens `replaced_by_mask` become [MASK], `replaced_at_random` any id but a special one, and
    the others stay.
    """
    starts = word_starts(ids, inner, vocabulary) if objective.masking == "whole-word" else inner
    positions = choose_tokens(starts, inner, lengths, objective.masking_rate, random)
    labels = ids[positions]
    draw = random.random(len(positions))
    strangers = vocabulary.ordinary[random.integers(len(vocabulary.ordinary), size=len(positions))]
    by_mask = draw < objective.replaced_by_mask
    at_random = ~by_mask & (draw < objective.replaced_by_mask + objective.replaced_at_random)
    hidden = ids.copy()
    hidden[positions] = np.where(by_mask, vocabulary.mask, np.where(at_random, strangers, labels))
    return Masked(hidden, positions, labels)
