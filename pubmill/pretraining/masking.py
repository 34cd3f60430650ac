"""Which tokens are hidden from the model, and what stands in their place.

Devlin et al. (2019), section 3.1 and its `create_pretraining_data.py` (with `--do_whole_word_mask`); gu2020
sections 2.3 and 2.4. A word is a first piece with the pieces that continue it; what replaces each of its
tokens is drawn for each token by itself, as there. Unlike there, how many are masked is not rounded: the
word at which the budget of a sequence runs out is taken with the probability that makes the expected
share exact. Runs of words (Lan et al. 2020, section 4.1) are of n words with a probability in proportion to
1/n.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.files import read_json
from pubmill.recipes import Objective

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Random = np.random.Generator

CONTINUES: dict[str, Callable[[str], bool]] = {
    "WordPiece": lambda piece: piece.startswith("##") and len(piece) > 2,
    "BPE": lambda piece: not piece.startswith(("Ġ", "▁")),
    "Unigram": lambda piece: not piece.startswith("▁"),
}
"""Whether a piece goes on with a word, by the `model.type` of tokenizer.json."""


@dataclass(frozen=True)
class Vocabulary:
    """What masking knows of a vocabulary: `continues` (vocabulary,) marks pieces that go on with a word,
    `ordinary` are the ids that may stand in for others, `mask` is the one that hides."""

    continues: Flags
    ordinary: Ints
    mask: int

    @property
    def size(self) -> int:
        """The number of ids."""
        return len(self.continues)


def read_vocabulary(folder: Path, special: dict[str, int]) -> Vocabulary:
    """Read the pieces of tokenizer.json; `special` maps pad, unk, cls, sep and mask to ids.

    A piece goes on with a word if it has WordPiece's `##`, or lacks the sign for a space before it that
    byte-level (`Ġ`) and SentencePiece (`▁`) vocabularies put on first pieces.
    """
    path = folder / "tokenizer.json"
    tokenizer = read_json(path)
    try:
        kind, pieces = tokenizer["model"]["type"], tokenizer["model"]["vocab"]
        added = {int(token["id"]) for token in tokenizer["added_tokens"] if token["special"]}
        names = pieces if isinstance(pieces, dict) else {piece: n for n, (piece, _) in enumerate(pieces)}
        continues = np.zeros(max(max(names.values(), default=-1), max(added, default=-1)) + 1, bool)
        ids = np.array(list(names.values()))
        continues[ids] = [CONTINUES[kind](piece) for piece in names]
    except (KeyError, TypeError, ValueError) as error:
        raise PubmillError(f"{path}: no tokenizer whose words are known ({error!r})") from None
    reserved = sorted(added | set(special.values()))
    continues[reserved] = False
    ordinary = np.setdiff1d(ids, reserved)
    return Vocabulary(continues, ordinary, special["mask"])


@dataclass(frozen=True)
class Masked:
    """Inputs with some tokens hidden: `ids` (tokens,), and where (`positions`) which ids (`labels`) were."""

    ids: Ints
    positions: Ints
    labels: Ints

    def everywhere(self, unlabelled: int) -> Ints:
        """The labels as (tokens,), `unlabelled` where nothing was chosen."""
        labels = np.full(len(self.ids), unlabelled)
        labels[self.positions] = self.labels
        return labels


def word_starts(ids: Ints, inner: Flags, vocabulary: Vocabulary) -> Flags:
    """True where a word begins: at a piece that continues nothing, or the first piece of a segment."""
    after_special = np.concatenate([[True], ~inner[:-1]])
    starts: Flags = inner & (~vocabulary.continues[ids] | after_special)
    return starts


def choose_tokens(starts: Flags, inner: Flags, lengths: Ints, rate: float, random: Random) -> Ints:
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


def masking_rate(objective: Objective, step: int, steps: int) -> float:
    """The share of tokens to mask at a step (from 0) of `steps`."""
    first, last = objective.masking_rate, objective.final_masking_rate
    return first if last is None else first + (last - first) * step / max(1, steps - 1)


def run_starts(words: Flags, inner: Flags, longest: int, random: Random) -> Flags:
    """True where a run of 1 to `longest` words begins; `words` marks the beginnings of words.

    The lengths are drawn with probabilities in proportion to 1/n. No run reaches over a special token.
    """
    lengths = np.arange(1, longest + 1)
    begins = np.flatnonzero(words)
    drawn = random.choice(lengths, size=len(begins), p=(1 / lengths) / (1 / lengths).sum())
    ends = np.cumsum(drawn)
    starts: Flags = inner & np.concatenate([[True], ~inner[:-1]])
    firsts = np.concatenate([[0], ends[ends < len(begins)]])[: len(begins)]
    starts[begins[firsts]] = True
    return starts


def units(inner: Flags, ids: Ints, vocabulary: Vocabulary, objective: Objective, random: Random) -> Flags:
    """True where something begins that is masked as a whole."""
    if objective.masking == "subword":
        return inner
    words = word_starts(ids, inner, vocabulary)
    return (
        words
        if objective.masking == "whole-word"
        else run_starts(words, inner, objective.longest_ngram, random)
    )


def mask(
    ids: Ints,
    inner: Flags,
    lengths: Ints,
    vocabulary: Vocabulary,
    objective: Objective,
    rate: float,
    random: Random,
) -> Masked:
    """Hide tokens of sequences laid end to end (see `instances.Batch`); [CLS] and [SEP] are never chosen.

    `rate` of the tokens are chosen, of which `replaced_by_mask` become [MASK], `replaced_at_random` any id
    but a special one, and the others stay.
    """
    starts = units(inner, ids, vocabulary, objective, random)
    positions = choose_tokens(starts, inner, lengths, rate, random)
    labels = ids[positions]
    draw = random.random(len(positions))
    strangers = vocabulary.ordinary[random.integers(len(vocabulary.ordinary), size=len(positions))]
    by_mask = draw < objective.replaced_by_mask
    at_random = ~by_mask & (draw < objective.replaced_by_mask + objective.replaced_at_random)
    hidden = ids.copy()
    hidden[positions] = np.where(by_mask, vocabulary.mask, np.where(at_random, strangers, labels))
    return Masked(hidden, positions, labels)
