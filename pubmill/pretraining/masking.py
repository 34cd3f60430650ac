"""Selection of masked tokens, and their replacements; labels of a batch: masked tokens, next tokens, or both.

Devlin et al. (2019), section 3.1 and its `create_pretraining_data.py` (with `--do_whole_word_mask`); gu2020
sections 2.3 and 2.4. A word is a first piece with the pieces that continue it; the replacement of each of its
tokens is drawn independently, as in the original. Unlike the original, the number of masked tokens is not
rounded: the word at which a sequence's budget is exceeded is masked with the probability that makes the
expected share exact. Runs of words (Lan et al. 2020, section 4.1) have n words with probability proportional
to 1/n. Independent tokens are chosen as in `sequence_packer.py` of AnswerDotAI/ModernBERT.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.pretraining.instances import Ints, PackedBatch, Stream, generator, ranges
from pubmill.recipes import Objective
from pubmill.recipes.objectives import kind_of
from pubmill.storage.checksums import check_folder
from pubmill.storage.files import read_json

Flags = NDArray[np.bool_]
Fractions = NDArray[np.float64]
APART = 1 << 24
"""Random numbers reserved for each sequence: more than a sequence has tokens."""

CONTINUES: dict[str, Callable[[str], bool]] = {
    "WordPiece": lambda piece: piece.startswith("##") and len(piece) > 2,
    "BPE": lambda piece: not piece.startswith(("Ġ", "▁")),
    "Unigram": lambda piece: not piece.startswith("▁"),
}
"""`model.type` of tokenizer.json -> function that returns whether a piece continues a word."""


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
    """Read the pieces of tokenizer.json; `special` maps pad, unk, cls, sep and mask to ids. A piece continues
    a word if it has WordPiece's `##`, or lacks the mark of a preceding space that byte-level (`Ġ`) and
    SentencePiece (`▁`) vocabularies put on first pieces. Raises a `PubmillError` if there is no such
    tokenizer, or if it lacks these ids."""
    path = folder / "tokenizer.json"
    check_folder(folder)
    tokenizer = read_json(path)
    try:
        kind, pieces = tokenizer["model"]["type"], tokenizer["model"]["vocab"]
        added = {int(token["id"]): bool(token["special"]) for token in tokenizer["added_tokens"]}
        names = pieces if isinstance(pieces, dict) else {piece: n for n, (piece, _) in enumerate(pieces)}
        inside = [number for piece, number in names.items() if CONTINUES[kind](piece)]
        size = max(max(names.values()), *added, 0) + 1
    except (KeyError, TypeError, ValueError) as error:
        raise PubmillError(f"{path}: no tokenizer whose words are known ({error!r})") from None
    reserved = sorted({number for number, apart in added.items() if apart} | set(special.values()))
    if reserved[-1] >= size:
        raise PubmillError(f"{path} has no id {reserved[-1]}: the tokens were packed with another vocabulary")
    continues = np.zeros(size, bool)
    continues[inside] = True
    continues[reserved] = False
    return Vocabulary(continues, np.setdiff1d(list(names.values()), reserved), special["mask"])


class Draw(IntEnum):
    """What the random numbers of a sequence decide."""

    RUNS, UNITS, REPLACEMENTS = range(3)


@dataclass(frozen=True)
class Draws:
    """Random numbers of some sequences of a batch, which do not depend on the batch's other sequences, so
    that each process draws only those of its own. `sequences`: their numbers in the batch, rising. `seed`,
    `stream` and `numbers` as of `pubmill.pretraining.instances.generator`."""

    sequences: Ints
    seed: int
    stream: Stream
    numbers: tuple[int, ...] = ()

    def bits(self, draw: Draw, count: int) -> NDArray[np.uint64]:
        """Return the first `count` numbers of 64 random bits of each sequence, (sequences, count)."""
        source = generator(self.seed, self.stream, *self.numbers, draw).bit_generator
        assert isinstance(source, np.random.PCG64)
        bits = np.empty((len(self.sequences), count), np.uint64)
        here = 0
        for row, sequence in enumerate(self.sequences.tolist()):
            source.advance(sequence * APART - here)
            bits[row] = source.random_raw(count)
            here = sequence * APART + count
        return bits


def fractions(bits: NDArray[np.uint64]) -> Fractions:
    """Return random bits as numbers from 0 to below 1."""
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


@dataclass(frozen=True)
class Masked:
    """Inputs with masked tokens: `ids` (tokens,), and the `positions` and original ids (`labels`) of masked
    ones. The first `causal` sequences are read from left to right, and the first `next_tokens` labels are
    theirs (see `hide`)."""

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


def choose_tokens(starts: Flags, inner: Flags, lengths: Ints, rate: float, draws: Draws) -> Ints:
    """Return the sorted positions of randomly chosen units, on average `rate` of each sequence's tokens.
    `starts` marks the start of each unit (a whole word, or each token), `inner` the tokens that may be
    chosen: a unit ends before the next one or a special token. `lengths`: sequence lengths in tokens."""
    begin, last = np.flatnonzero(starts), np.flatnonzero(inner & np.append((starts | ~inner)[1:], True))
    places = np.cumsum(lengths) - lengths
    budget = rate * np.add.reduceat(inner, places, dtype=np.int64)[:, None]
    # No unit is smaller than a token.
    order, share = shuffled(np.searchsorted(begin, places), len(begin), int(budget.max()) + 1, draws)
    size = last.take(order, mode="clip") - begin.take(order, mode="clip") + 1
    before = np.cumsum(size, axis=1) - size
    # The last unit is chosen with probability (remaining budget) / (its size).
    chosen = np.zeros(len(begin), bool)
    chosen[order[before + share * size < budget]] = True
    units = np.flatnonzero(chosen)
    return ranges(begin[units], last[units] + 1 - begin[units])


def choose_independently(lengths: Ints, rate: float, draws: Draws) -> Ints:
    """Return the positions of tokens of which each is chosen with probability `rate`, special ones too."""
    columns = np.arange(int(lengths.max()))
    drawn = fractions(draws.bits(Draw.UNITS, len(columns))[columns < lengths[:, None]])
    return np.flatnonzero(drawn < rate)


def shuffled(first: Ints, count: int, most: int, draws: Draws) -> tuple[Ints, Fractions]:
    """Return up to `most` units of each sequence in random order, as numbers (sequences, units) below
    `count`, and a random fraction for each sequence, (sequences, 1). Rows with fewer units are filled with
    arbitrary numbers. `first`: the first unit of each sequence. Sorts numbers with random upper bits and the
    unit's number as lower bits, because numpy sorts numbers much faster than it sorts by keys."""
    counts = np.diff(first, append=count)[:, None]
    columns = np.arange(int(counts.max()))
    lower = np.uint64(APART - 1)
    bits = draws.bits(Draw.UNITS, 1 + len(columns))
    share, keys = fractions(bits[:, :1]), bits[:, 1:]
    keys &= ~lower
    keys |= columns.astype(np.uint64)
    keys[columns >= counts] = 2**64 - 1
    keys.sort(axis=1)
    return (keys[:, :most] & lower).view(np.int64) + first[:, None], share


def masking_rate(objective: Objective, step: int, steps: int) -> float:
    """Return the share of tokens to mask at a step (from 0) of `steps`."""
    first, last = objective.masking_rate, objective.final_masking_rate
    return first if last is None else first + (last - first) * step / max(1, steps - 1)


def run_starts(words: Flags, inner: Flags, lengths: Ints, longest: int, draws: Draws) -> Flags:
    """Return true where a run of 1 to `longest` words begins; `words` marks the starts of words. Lengths have
    probabilities proportional to 1/n. No run crosses a special token."""
    weights = 1 / np.arange(1, longest + 1)
    begins = np.flatnonzero(words)
    first = np.searchsorted(begins, np.cumsum(lengths) - lengths)
    counts = np.diff(first, append=len(begins))[:, None]
    drawn = fractions(draws.bits(Draw.RUNS, int(counts.max())))
    bounds = np.cumsum(weights / weights.sum())[:-1]
    ends = np.cumsum(1 + np.searchsorted(bounds, drawn, side="right"), axis=1)
    starts = inner & after_special(inner)
    starts[begins[(ends + first[:, None])[ends < counts]]] = True
    return starts


def mask(
    batch: PackedBatch, vocabulary: Vocabulary, objective: Objective, rate: float, draws: Draws
) -> Masked:
    """Mask tokens of a batch; [CLS] and [SEP] are chosen only if tokens are independent. `rate` of the tokens
    are chosen, of which `replaced_by_mask` become [MASK], `replaced_at_random` become any id except special
    ones, and the others stay."""
    ids, inner, lengths = batch.ids, batch.inner, batch.lengths
    if objective.masking == "independent":
        positions = choose_independently(lengths, rate, draws)
    else:
        starts = inner if objective.masking == "subword" else word_starts(ids, inner, vocabulary)
        if objective.masking == "n-gram":
            starts = run_starts(starts, inner, lengths, objective.longest_ngram, draws)
        positions = choose_tokens(starts, inner, lengths, rate, draws)
    labels = ids[positions]
    counts = np.diff(np.searchsorted(positions, np.cumsum(lengths)), prepend=0)[:, None]
    columns = np.arange(int(counts.max()))
    drawn = fractions(draws.bits(Draw.REPLACEMENTS, len(columns))[columns < counts])
    beyond = drawn - objective.replaced_by_mask
    by_mask, at_random = beyond < 0, (beyond >= 0) & (beyond < objective.replaced_at_random)
    # The random number that chose a random replacement is uniform there, so it also selects the id.
    which = beyond[at_random] / objective.replaced_at_random * len(vocabulary.ordinary)
    shown = np.where(by_mask, vocabulary.mask, labels)
    shown[at_random] = vocabulary.ordinary[which.astype(np.int64)]
    hidden = ids.copy()
    hidden[positions] = shown
    return Masked(hidden, positions, labels)


def hide(
    batch: PackedBatch, vocabulary: Vocabulary, objective: Objective, rate: float, draws: Draws, total: int
) -> Masked:
    """Return the tokens of a batch after masking at a `rate`, and the positions and labels to predict.

    `batch` has the sequences `draws.sequences` of the `total` that a step has on all processes. If the
    objective reads some from left to right, these are the first of the `total`: nothing is masked in them,
    and each position except the last predicts the next token. In the others, a masked token is then
    predicted from the position before it.
    """
    if not len(batch.lengths):
        return Masked(batch.ids, batch.ids, batch.ids)
    masked = mask(batch, vocabulary, objective, rate, draws)
    causal_of_all = kind_of(objective).causal_sequences(total)
    if not causal_of_all:
        return masked
    causal = int((draws.sequences < causal_of_all).sum())
    ends = np.cumsum(batch.lengths[:causal])
    tokens = int(batch.lengths[:causal].sum())
    before = np.setdiff1d(np.arange(tokens), ends - 1, assume_unique=True)
    kept = masked.positions >= tokens
    return Masked(
        ids=np.concatenate([batch.ids[:tokens], masked.ids[tokens:]]),
        positions=np.concatenate([before, masked.positions[kept] - 1]),
        labels=np.concatenate([batch.ids[before + 1], masked.labels[kept]]),
        causal=causal,
        next_tokens=len(before),
    )
