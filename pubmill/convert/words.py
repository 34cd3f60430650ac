"""Notes with mentions at characters -> sentences of words with BIO labels.

Every line of a note is a sentence, its words are what white space separates, and a mention's edge
inside a word cuts the word there, so that no mention is lost or widened: so far as bio-lm and
ClinicalBERT do with the i2b2 notes. Decided here: a mention that runs over the end of a line joins the
two lines, and of mentions that overlap the longest stays (of equally long ones the first).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pubmill.annotation.tagging import to_labels

_WORD = re.compile(r"\S+")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Mention:
    """Characters `start` to `end` (exclusive) of a note."""

    start: int
    end: int
    type: str


class Sentence(NamedTuple):
    """`line` is the number of its first line in the note, from 1 on."""

    line: int
    words: list[str]
    labels: list[str]


def sentences(note: str, mentions: Iterable[Mention], left_out: Counter[str]) -> Iterator[Sentence]:
    """The note's sentences; a line without words is none.

    Counts in `left_out` the mentions that become no label: `mentions_without_words` (white space only),
    `repeated_mentions` (the same place and type again) and `overlapping_mentions`.
    """
    kept = _disjoint(_trimmed(note, mentions, left_out), left_out)
    for line, (start, end) in _lines(note, kept):
        inside = [mention for mention in kept if start <= mention.start < end]
        spans = _words(note, (start, end), inside)
        if spans:
            first = {span[0]: place for place, span in enumerate(spans)}
            last = {span[1]: place + 1 for place, span in enumerate(spans)}
            labelled = [(first[m.start], last[m.end], m.type) for m in inside]
            words = [note[slice(*span)] for span in spans]
            yield Sentence(line, words, to_labels(labelled, len(words), "bio"))


def _trimmed(note: str, mentions: Iterable[Mention], left_out: Counter[str]) -> list[Mention]:
    """The mentions without white space at their edges."""
    found = []
    for mention in mentions:
        words = list(_WORD.finditer(note, mention.start, mention.end))
        if words:
            found.append(Mention(words[0].start(), words[-1].end(), mention.type))
        else:
            left_out["mentions_without_words"] += 1
    return found


def _disjoint(mentions: Sequence[Mention], left_out: Counter[str]) -> list[Mention]:
    """Those that stay, in the note's order."""
    different = list(dict.fromkeys(mentions))
    kept: list[Mention] = []
    for mention in sorted(different, key=lambda m: m.start - m.end):  # the order of equals is kept
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    for reason, number in (
        ("repeated_mentions", len(mentions) - len(different)),
        ("overlapping_mentions", len(different) - len(kept)),
    ):
        if number:
            left_out[reason] += number
    return sorted(kept, key=lambda mention: mention.start)


def _lines(note: str, mentions: Sequence[Mention]) -> Iterator[tuple[int, Span]]:
    """Numbered lines; those that a mention joins are one."""
    joined = {place for m in mentions for place in range(m.start, m.end) if note[place] == "\n"}
    number, start = 1, 0
    for line, place in enumerate([i for i, char in enumerate(note) if char == "\n"] + [len(note)], 1):
        if place not in joined:
            yield number, (start, place)
            number, start = line + 1, place + 1


def _words(note: str, sentence: Span, mentions: Sequence[Mention]) -> list[Span]:
    cuts = sorted({edge for mention in mentions for edge in (mention.start, mention.end)})
    spans: list[Span] = []
    for word in _WORD.finditer(note, *sentence):
        inside = [cut for cut in cuts if word.start() < cut < word.end()]
        spans += pairwise([word.start(), *inside, word.end()])
    return spans
