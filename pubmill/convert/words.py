"""Conversion of notes with mentions at character offsets to sentences of words with BIO labels.

Every line of a note is a sentence, white space separates its words, and a mention's boundary inside a word
splits the word, so that no mention is lost or extended, as bio-lm and ClinicalBERT do with the i2b2 notes.
pubmill's own decisions: a mention that crosses the end of a line joins the two lines, and of overlapping
mentions the longest is kept (the first of equally long ones).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import to_labels

_WORD = re.compile(r"\S+")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NoteMention:
    """A mention: characters `start` to `end` (exclusive) of a note."""

    start: int
    end: int
    type: str


class Sentence(NamedTuple):
    """A sentence; `line` is the number of its first line in the note, counted from 1; `spans`: its mentions
    as first word, word after the last, and type."""

    line: int
    words: list[str]
    spans: list[tuple[int, int, str]]

    @property
    def labels(self) -> list[str]:
        """BIO labels of the words; a ValueError if mentions overlap."""
        return to_labels(self.spans, len(self.words), "bio")

    def example(self, document: str) -> TokensExample:
        """Return the example of a document's line, `DOCUMENT.LINE`."""
        name = f"{document}.{self.line}"
        return TokensExample(id=name, document=document, words=self.words, labels=self.labels)


def sentences(
    note: str,
    mentions: Iterable[NoteMention],
    left_out: Counter[str],
    ends: Sequence[int] | None = None,
    word: re.Pattern[str] = _WORD,
    longest: bool | None = True,
) -> Iterator[Sentence]:
    """Yield the note's sentences; one without words is left out.

    `ends`: where sentences end, in order; by default at each line feed. `word`: what is one word. Of
    overlapping mentions the `longest` is kept, or else the shortest; all if it is None.

    `left_out` counts the mentions that get no label: `mentions_without_words` (white space only),
    `repeated_mentions` (the same place and type again) and `overlapping_mentions`.
    """
    kept = _disjoint_mentions(_trim_mentions(note, mentions, left_out), left_out, longest)
    for line, (start, end) in _numbered_pieces(note, kept, line_ends(note) if ends is None else ends):
        inside = [mention for mention in kept if start <= mention.start < end]
        spans = _word_spans(note, (start, end), inside, word)
        if spans:
            first = {span[0]: place for place, span in enumerate(spans)}
            last = {span[1]: place + 1 for place, span in enumerate(spans)}
            placed = [(first[m.start], last[m.end], m.type) for m in inside]
            yield Sentence(line, [note[slice(*span)] for span in spans], placed)


def line_ends(text: str) -> list[int]:
    """Return the places of line feeds."""
    return [place for place, character in enumerate(text) if character == "\n"]


def _trim_mentions(note: str, mentions: Iterable[NoteMention], left_out: Counter[str]) -> list[NoteMention]:
    """Return the mentions without white space at their edges."""
    trimmed = []
    for mention in mentions:
        words = list(_WORD.finditer(note, mention.start, mention.end))
        if words:
            trimmed.append(NoteMention(words[0].start(), words[-1].end(), mention.type))
        else:
            left_out["mentions_without_words"] += 1
    return trimmed


def _disjoint_mentions(
    mentions: Sequence[NoteMention], left_out: Counter[str], longest: bool | None
) -> list[NoteMention]:
    different = list(dict.fromkeys(mentions))
    kept: list[NoteMention] = []
    sign = 1 if longest else -1
    for mention in sorted(different, key=lambda m: sign * (m.start - m.end)):  # a stable sort
        if longest is None or all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    for reason, number in (
        ("repeated_mentions", len(mentions) - len(different)),
        ("overlapping_mentions", len(different) - len(kept)),
    ):
        if number:
            left_out[reason] += number
    return sorted(kept, key=lambda mention: mention.start)


def _numbered_pieces(
    note: str, mentions: Sequence[NoteMention], ends: Sequence[int]
) -> Iterator[tuple[int, Span]]:
    """Yield numbered pieces of a note, which end at `ends`; pieces that a mention joins are one."""
    joined = {place for m in mentions for place in range(m.start + 1, m.end)}
    number, start = 1, 0
    for line, place in enumerate([*ends, len(note)], 1):
        if place not in joined:
            yield number, (start, place)
            number, start = line + 1, place


def _word_spans(
    note: str, sentence: Span, mentions: Sequence[NoteMention], form: re.Pattern[str]
) -> list[Span]:
    cuts = sorted({edge for mention in mentions for edge in (mention.start, mention.end)})
    spans: list[Span] = []
    for word in form.finditer(note, *sentence):
        inside = [cut for cut in cuts if word.start() < cut < word.end()]
        spans += pairwise([word.start(), *inside, word.end()])
    return spans
