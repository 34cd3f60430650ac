"""Conversion between word labels and mentions, for the papers' three tagging schemes. Standard library only.

BIO (IOB2) and BIOUL distinguish all mentions. IO merges neighbouring mentions of one type, but loses nothing
else (gu2020 section 5.2 compares the three). shin2020 section 5.1 and Figure 1 also label subwords: the first
one has its word's label, and each later one has X.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

Scheme = Literal["bio", "bioul", "io"]
Mention = tuple[int, int, str]
"""First word, word after the last, type ("" if labels have none)."""

BEGINS, ENDS = frozenset("BU"), frozenset("LU")
CONTINUATION = "X"
OUTSIDE = "O"
SUBWORDS = "subword_labels"
"""Key of the subwords' labels in a line of a predictions file, beside `labels`."""
UNPLACED = "unplaced"
"""Key of predicted mentions that have no place in the words of their sentence, in a line of a predictions
file: a list of their types and numbers of words. Each is a false positive."""


def to_mentions(labels: Sequence[str]) -> list[Mention]:
    """Return the mentions of labels in any of the schemes. A label that continues no mention (I or L after O,
    or after another type) begins one, as in conlleval and in seqeval's default mode."""
    mentions: list[Mention] = []
    start: int | None = None
    kind = ""
    for place, label in enumerate([*labels, "O"]):
        prefix, _, of = label.partition("-")
        if start is not None and (prefix == "O" or prefix in BEGINS or of != kind):
            mentions.append((start, place, kind))
            start = None
        if prefix != "O" and start is None:
            start, kind = place, of
        if start is not None and prefix in ENDS:
            mentions.append((start, place + 1, kind))
            start = None
    return mentions


def to_labels(mentions: Iterable[Mention], words: int, scheme: Scheme) -> list[str]:
    """Return the labels of a sentence of `words` words; overlapping mentions raise a ValueError."""
    labels = ["O"] * words
    for start, end, kind in mentions:
        if not 0 <= start < end <= words or any(label != "O" for label in labels[start:end]):
            fault = f"mention of words {start} to {end} overlaps another or leaves the {words} words"
            raise ValueError(fault)
        inside = "I" * (end - start - 1)
        prefixes = f"{'I' if scheme == 'io' else 'B'}{inside}"
        if scheme == "bioul":
            prefixes = f"B{inside[1:]}L" if inside else "U"
        labels[start:end] = [f"{prefix}-{kind}" if kind else prefix for prefix in prefixes]
    return labels


class PredictedLabels(list[str]):
    """BIO labels of the words of a sentence; `subwords`: the labels of each word's subwords."""

    def __init__(self, words: Iterable[str], subwords: Sequence[Sequence[str]]) -> None:
        super().__init__(words)
        self.subwords = [list(labels) for labels in subwords]


class ExtendedLabels(list[str]):
    """BIO labels of the words of a sentence, and behind these of mentions without a place in it.

    `unplaced`: their types and numbers of words. An O keeps each apart from what stands before it.
    """

    def __init__(self, words: Iterable[str], unplaced: Iterable[tuple[str, int]]) -> None:
        super().__init__(words)
        for kind, count in unplaced:
            self += ["O", *to_labels([(0, count, kind)], count, "bio")]


def gold_beside(gold: Sequence[str], predicted: Sequence[str]) -> Sequence[str]:
    """Return gold labels as long as the predicted ones: O beside mentions without a place."""
    if not isinstance(predicted, ExtendedLabels):
        return gold
    return [*gold, *["O"] * (len(predicted) - len(gold))]


def word_label(subwords: Sequence[str]) -> str:
    """Return the label of a word: that of its first subword; O for X or no subword. BioBERT's script
    `ner_detokenize.py` does the same."""
    return OUTSIDE if not subwords or subwords[0] == CONTINUATION else subwords[0]


def gold_subwords(label: str, subwords: int) -> list[str]:
    """Return the labels of the subwords of a word."""
    return [label, *[CONTINUATION] * (subwords - 1)]


def subword_mentions(words: Sequence[Sequence[str]]) -> list[Mention]:
    """Return the mentions of a sentence in indices of subwords; `words`: the labels of each word's subwords.
    X continues the label before it, a mention or O; on a word's first subword it counts as O. A word without
    subwords counts as one subword with the label O."""
    continued: list[str] = []
    for subwords in words:
        continued.append(word_label(subwords))
        for label in subwords[1:]:
            before = continued[-1]
            inside = before if before == OUTSIDE else f"I{before[1:]}"
            continued.append(inside if label == CONTINUATION else label)
    return to_mentions(continued)
