"""Conversion between word labels and mentions, for the papers' three tagging schemes. Standard library only.

BIO (IOB2) and BIOUL distinguish all mentions. IO merges neighbouring mentions of one type, but loses nothing
else (gu2020 section 5.2 compares the three).
"""

from collections.abc import Iterable, Sequence
from typing import Literal

Scheme = Literal["bio", "bioul", "io"]
Mention = tuple[int, int, str]
"""First word, word after the last, type ("" if labels have none)."""

BEGINS, ENDS = frozenset("BU"), frozenset("LU")


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
            raise ValueError(
                f"mention of words {start} to {end} overlaps another or leaves the {words} words"
            )
        labels[start:end] = [
            f"{prefix}-{kind}" if kind else prefix for prefix in _prefixes(end - start, scheme)
        ]
    return labels


def _prefixes(length: int, scheme: Scheme) -> str:
    if scheme == "io":
        return "I" * length
    if scheme == "bio":
        return "B" + "I" * (length - 1)
    return "U" if length == 1 else "B" + "I" * (length - 2) + "L"
