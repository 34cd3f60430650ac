"""Character spans as spans of words."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pubmill.examples.tagging import Mention
from pubmill.extras.submissions.rows import PredictedSpan

FURTHEST = 200
"""Most characters of a text that are skipped to find the next word."""

Place = tuple[int, int] | None
"""Characters of a word in a text; None: the text lacks it."""


class Lost(NamedTuple):
    """A span that no labels of words can express, with the reason; `where`: file and line, or document."""

    where: str
    span: PredictedSpan
    why: str


def place_words(text: str, words: Iterable[str]) -> list[Place]:
    """Return the place of each word in a text that has them in this order."""
    places: list[Place] = []
    cursor = 0
    for word in words:
        start = text.find(word, cursor, cursor + len(word) + FURTHEST)
        if start < 0:
            places.append(None)
            continue
        cursor = start + len(word)
        places.append((start, cursor))
    return places


def align(
    spans: Sequence[PredictedSpan], places: Sequence[Place], where: str
) -> tuple[list[Mention], list[Lost]]:
    """Return spans as mentions of words, and the lost spans, which labels of words cannot express: they begin
    or end inside of a word, or overlap an earlier mention or a longer one with the same start."""
    starts = {place[0]: number for number, place in enumerate(places) if place}
    ends = {place[1]: number + 1 for number, place in enumerate(places) if place}
    mentions: list[Mention] = []
    lost: list[Lost] = []
    taken = 0
    for span in sorted(dict.fromkeys(spans), key=lambda one: (one.start, -one.end)):
        start, end = starts.get(span.start), ends.get(span.end)
        if start is None or end is None or start >= end:
            lost.append(Lost(where, span, "begins or ends inside of a word"))
        elif start < taken:
            lost.append(Lost(where, span, "overlaps another mention"))
        else:
            mentions.append((start, end, span.type))
            taken = end
    return mentions, lost
