"""Character spans as spans of words."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from pubmill.examples.tagging import Mention
from pubmill.predictions.rows import LabelledPiece, NamedMention, PredictedSpan, SomeMention

FURTHEST = 200
"""Most characters of a text that are skipped to find the next word."""
INSIDE, LACKS = "begins or ends inside of a word", "stands in a text that lacks words of the dataset"
"""Reasons for which a span has no place, whatever else is predicted."""

Place = tuple[int, int] | None
"""Characters of a word in a text; None: the text lacks it."""


class Lost(NamedTuple):
    """A span that no labels of words can express, with the reason; `where`: file and line, or document.
    `words`: as how many predicted words it counts."""

    where: str
    span: PredictedSpan
    why: str
    words: int = 1


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
    spans: Sequence[PredictedSpan], places: Sequence[Place], where: str, gold: Collection[Mention] = ()
) -> tuple[list[Mention], list[Lost]]:
    """Return spans as mentions of words, and the lost spans, which labels of words cannot express.

    Lost are spans that begin or end inside of a word, all spans of a text that lacks words, and those that
    overlap an earlier mention or a longer one with the same start. A gold mention comes before those that
    overlap it, so that each span counts as if it were predicted alone.
    """
    starts = {place[0]: number for number, place in enumerate(places) if place}
    ends = {place[1]: number + 1 for number, place in enumerate(places) if place}
    mentions: dict[Mention, PredictedSpan] = {}
    lost: list[Lost] = []
    lacks = None in places
    for span in spans:
        start, end = starts.get(span.start), ends.get(span.end)
        if lacks or start is None or end is None or start >= end:
            lost.append(Lost(where, span, LACKS if lacks else INSIDE, _words_of(span, places)))
        else:
            mentions.setdefault((start, end, span.type), span)
    kept: list[Mention] = []
    taken: set[int] = set()
    for one in sorted(mentions, key=lambda one: (one not in gold, one[0], -one[1])):
        words = range(one[0], one[1])
        if taken.isdisjoint(words):
            kept.append(one)
            taken.update(words)
        else:
            lost.append(Lost(where, mentions[one], "overlaps another mention", len(words)))
    return sorted(kept), sorted(lost, key=lambda one: (one.span.start, -one.span.end))


def _words_of(span: PredictedSpan, places: Sequence[Place]) -> int:
    """Return the number of words that a span without a place touches, and of those that the rest of it,
    behind the last word, could have."""
    touched = sum(place is not None and place[0] < span.end and span.start < place[1] for place in places)
    behind = span.end - max(span.start, max((place[1] for place in places if place), default=0))
    return max(1, touched + (max(0, behind) + 1) // 2)


def joined_pieces(
    mentions: Iterable[SomeMention], text: str, labels: Collection[str], mapping: Mapping[str, object]
) -> list[PredictedSpan | NamedMention]:
    """Join the pieces of words in a list of mentions, by the rule of `group_entities` of transformers'
    pipeline: a piece continues the one before it if it has the same type and no B. Pieces follow each other
    by their `index`; spans with the labels B-TYPE and I-TYPE and without one are pieces, too, and follow each
    other if only blanks are between them. `labels`: those of the dataset, in which B- is no prefix. Types
    that are mapped to one label are one."""
    joined: list[PredictedSpan | NamedMention] = []
    last: tuple[PredictedSpan, int | None, object] | None = None
    for one in mentions:
        span, index = one if isinstance(one, LabelledPiece) else (one, None)
        prefix, kind = _tag(span.type)
        is_prefixed = prefix and span.type not in labels
        if isinstance(span, NamedMention) or (index is None and not is_prefixed):
            joined.append(span)
            last = None
            continue
        name = next((one for one in (kind, f"B-{kind}", f"I-{kind}") if one in mapping), kind)
        of = mapping.get(name, name)
        if last and prefix != "B" and of == last[2] and _follows(span, index, last[0], last[1], text):
            joined[-1] = joined[-1]._replace(end=span.end)  # type: ignore[call-arg]
        else:
            joined.append(span._replace(type=name))
        last = span, index, of
    return joined


def _tag(label: str) -> tuple[str, str]:
    """Return the prefix, B or I, and the type of a label; no prefix if it has none."""
    if label in ("B", "I"):
        return label, ""
    return (label[0], label[2:]) if label[:2] in ("B-", "I-") else ("", label)


def _follows(
    span: PredictedSpan, index: int | None, last: PredictedSpan, before: int | None, text: str
) -> bool:
    if index is not None and before is not None:
        return index == before + 1
    return span.start >= last.end and not text[last.end : span.start].strip()
