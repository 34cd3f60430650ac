"""Selection of masked tokens, and their replacements.

Devlin et al. (2019), section 3.1 and its `create_pretraining_data.py` (with `--do_whole_word_mask`); gu2020
sections 2.3 and 2.4. A word is a first piece with the pieces that continue it; the replacement of each of its
tokens is drawn independently, as in the original. Unlike the original, the number of masked tokens is not
rounded: the word at which a sequence's budget is exceeded is masked with the probability that makes the
expected share exact. Runs of words (Lan et al. 2020, section 4.1) have n words with probability proportional
to 1/n.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.pretraining.instances import Ints, ranges
from pubmill.recipes import Objective
from pubmill.storage.files import read_json

Flags = NDArray[np.bool_]
Random = np.random.Generator

CONTINUES: dict[str, Callable[[str], bool]] = {
    "WordPiece": lambda piece: piece.startswith("##") and len(piece) > 2,
    "BPE": lambda piece: not piece.startswith(("Ġ", "▁")),
    "Unigram": lambda piece: not piece.startswith("▁"),
}
"""Return whether a piece continues a word, by the `model.type` of tokenizer.json."""


@dataclass(frozen=True)
class Vocabulary:
    """Properties of a vocabulary for masking: `continues` (vocabulary,) marks pieces that continue a word,
    `ordinary` are the ids that may replace others, `mask` is the mask's id."""

    continues: Flags
    ordinary: Ints
    mask: int

    @property
    def size(self) -> int:
        """Return the number of ids."""
        return len(self.continues)


def read_vocabulary(folder: Path, special: dict[str, int]) -> Vocabulary:
    """Read the pieces of tokenizer.json; `special` maps pad, unk, cls, sep and mask to ids.

    A piece continues a word if it has WordPiece's `##`, or lacks the mark of a preceding space that
    byte-level (`Ġ`) and SentencePiece (`▁`) vocabularies put on first pieces. Raises a `PubmillError` if
    there is no such tokenizer, or if it lacks these ids.
    """
    path = folder / "tokenizer.json"
    tokenizer = read_json(path)
    try:
        kind, pieces = tokenizer["model"]["type"], tokenizer["model"]["vocab"]
        added = {int(token["id"]) for token in tokenizer["added_tokens"] if token["special"]}
        names = pieces if isinstance(pieces, dict) else {piece: n for n, (piece, _) in enumerate(pieces)}
        inside = [number for piece, number in names.items() if CONTINUES[kind](piece)]
        size = max(max(names.values()), max(added, default=0)) + 1
    except (KeyError, TypeError, ValueError) as error:
        raise PubmillError(f"{path}: no tokenizer whose words are known ({error!r})") from None
    reserved = sorted(added | set(special.values()))
    if reserved[-1] >= size:
        raise PubmillError(f"{path} has no id {reserved[-1]}: the tokens were packed with another vocabulary")
    continues = np.zeros(size, bool)
    continues[inside] = True
    continues[reserved] = False
    return Vocabulary(continues, np.setdiff1d(list(names.values()), reserved), special["mask"])


@dataclass(frozen=True)
class Masked:
    """Inputs with masked tokens: `ids` (tokens,), and the `positions` and original ids (`labels`) of masked
    ones. The first `causal` sequences are read from left to right, and the first `next_tokens` labels are
    theirs (see `pubmill.pretraining.predicted_tokens`)."""

    ids: Ints
    positions: Ints
    labels: Ints
    causal: int = 0
    next_tokens: int = 0

    def everywhere(self, unlabelled: int) -> Ints:
        """Return the labels as (tokens,), with `unlabelled` at all other tokens."""
        labels = np.full(len(self.ids), unlabelled)
        labels[self.positions] = self.labels
        return labels


def word_starts(ids: Ints, inner: Flags, vocabulary: Vocabulary) -> Flags:
    """Return true where a word begins: at a piece that continues nothing, or the first piece of a segment."""
    starts: Flags = ~vocabulary.continues.take(ids)
    starts |= after_special(inner)
    starts &= inner
    return starts


def after_special(inner: Flags) -> Flags:
    """Return true at the first token, and after each special token."""
    return np.concatenate([[True], ~inner[:-1]])


def choose_tokens(starts: Flags, inner: Flags, lengths: Ints, rate: float, random: Random) -> Ints:
    """Return the sorted positions of randomly chosen units, on average `rate` of each sequence's tokens.

    `starts` marks the start of each unit (a whole word, or each token), `inner` the tokens that may be
    chosen: a unit ends before the next one or a special token. `lengths`: sequence lengths in tokens.
    """
    begin, last = np.flatnonzero(starts), np.flatnonzero(inner & np.append((starts | ~inner)[1:], True))
    places = np.cumsum(lengths) - lengths
    budget = rate * np.add.reduceat(inner, places, dtype=np.int64)[:, None]
    # No unit is smaller than a token.
    order = shuffled(np.searchsorted(begin, places), len(begin), int(budget.max()) + 1, random)
    size = last.take(order, mode="clip") - begin.take(order, mode="clip") + 1
    before = np.cumsum(size, axis=1) - size
    # The last unit is chosen with probability (remaining budget) / (its size).
    share = random.random(budget.shape)
    chosen = np.zeros(len(begin), bool)
    chosen[order[before + share * size < budget]] = True
    units = np.flatnonzero(chosen)
    return ranges(begin[units], last[units] + 1 - begin[units])


def shuffled(first: Ints, count: int, most: int, random: Random) -> Ints:
    """Return up to `most` units of each sequence in random order, as numbers (sequences, units) below
    `count`.

    Rows with fewer units are filled with arbitrary numbers. `first`: the first unit of each sequence. Sorts
    numbers with random upper bits and the unit's number as lower bits, because numpy sorts numbers much
    faster than it sorts by keys.
    """
    counts = np.diff(first, append=count)[:, None]
    columns = np.arange(int(counts.max()))
    lower = np.uint64(2 ** len(columns).bit_length() - 1)
    keys = random.integers(2**64 - 1, size=(len(first), len(columns)), dtype=np.uint64, endpoint=True)
    keys &= ~lower
    keys |= columns.astype(np.uint64)
    keys[columns >= counts] = 2**64 - 1
    keys.sort(axis=1)
    return (keys[:, :most] & lower).view(np.int64) + first[:, None]


def masking_rate(objective: Objective, step: int, steps: int) -> float:
    """Return the share of tokens to mask at a step (from 0) of `steps`."""
    first, last = objective.masking_rate, objective.final_masking_rate
    return first if last is None else first + (last - first) * step / max(1, steps - 1)


def run_starts(words: Flags, inner: Flags, longest: int, random: Random) -> Flags:
    """Return true where a run of 1 to `longest` words begins; `words` marks the starts of words.

    Lengths have probabilities proportional to 1/n. No run crosses a special token.
    """
    lengths = np.arange(1, longest + 1)
    begins = np.flatnonzero(words)
    drawn = random.choice(lengths, size=len(begins), p=(1 / lengths) / (1 / lengths).sum())
    ends = np.cumsum(drawn)
    starts = inner & after_special(inner)
    firsts = np.concatenate([[0], ends[ends < len(begins)]])[: len(begins)]
    starts[begins[firsts]] = True
    return starts


def units(inner: Flags, ids: Ints, vocabulary: Vocabulary, objective: Objective, random: Random) -> Flags:
    """Return true where a unit of masking begins."""
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
    """Mask tokens of concatenated sequences (see `instances.Batch`); [CLS] and [SEP] are never chosen.

    `rate` of the tokens are chosen, of which `replaced_by_mask` become [MASK], `replaced_at_random` become
    any id except special ones, and the others stay.
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
