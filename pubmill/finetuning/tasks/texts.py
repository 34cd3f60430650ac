"""Encoding of one or two texts, shared by relations, yes/no questions, inference, documents with several
labels and similarity (gu2020 section 5.2)."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pubmill.errors import PubmillError
from pubmill.finetuning.inputs import Encoded, Instance
from pubmill.finetuning.reader import Reader, Subwords
from pubmill.finetuning.tasks.relations import Argument, Mention, located, remaining

Pooling = Literal["cls", "entity-start", "mention-max", "mention-average"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Source of an instance: one text or two, of the example with index `example` in its split, named `id`;
    `arguments` are mentions in `first`, which are kept when it is truncated."""

    example: int
    id: str
    first: str
    second: str | None = None
    arguments: list[Argument] = field(default_factory=list)


def encode_texts(reader: Reader, texts: Sequence[Text], pooling: Pooling = "cls") -> Encoded:
    """Return an instance for each source, cut to the reader's length, with the places that `pooling` reads.

    Of two texts the longer one is cut, or both if both are too long. `counts`: `texts_shortened`, of which
    `beginnings_left_out` and `middles_left_out`; `mentions_shortened`, `mentions_without_subword`.
    """
    names = ("texts_shortened", "beginnings_left_out", "middles_left_out")
    counts = dict.fromkeys((*names, "mentions_shortened", "mentions_without_subword"), 0)
    firsts = reader.subwords([text.first for text in texts])
    seconds = iter(reader.subwords([text.second for text in texts if text.second is not None]))
    instances: list[Instance] = []
    for text, first in zip(texts, firsts, strict=True):
        second = None if text.second is None else next(seconds)
        mentions, lost = located(first, text.arguments)
        try:
            kept, end = _kept_subwords(reader, first, second, mentions)
        except PubmillError as error:
            raise PubmillError(f"example {text.id}: {error}") from None
        counts["mentions_without_subword"] += lost
        _count_omissions(counts, first, kept, mentions)
        counts["texts_shortened"] += second is not None and end < len(second.ids)
        ids, segments = reader.framed(
            [first.ids[place] for place in kept], None if second is None else second.ids[:end]
        )
        before = len((reader.one if second is None else reader.two).before)
        places, groups = _read_places(pooling, kept, mentions, before, reader.whole(ids))
        instances.append(
            Instance(example=text.example, ids=ids, segments=segments, places=places, groups=groups)
        )
    return Encoded(instances=instances, counts=counts)


def _kept_subwords(
    reader: Reader, first: Subwords, second: Subwords | None, mentions: Sequence[Mention]
) -> tuple[Sequence[int], int]:
    """Return the places of the first text's subwords to keep, and the number of the second one's."""
    room = reader.room(pair=second is not None)
    if second is None:
        return remaining(len(first.ids), room, mentions), 0
    lengths = shares(len(first.ids), len(second.ids), room)
    return remaining(len(first.ids), lengths[0], mentions), lengths[1]


def shares(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how much of two lengths to keep if the longer one is cut until both fit into `room`."""
    if first + second <= room:
        return first, second
    if second <= room // 2:
        return room - second, second
    if first <= room - room // 2:
        return first, room - first
    return room - room // 2, room // 2


def _count_omissions(
    counts: dict[str, int], text: Subwords, kept: Sequence[int], mentions: Sequence[Mention]
) -> None:
    """Count the omissions from a text."""
    if len(kept) == len(text.ids):
        return
    counts["texts_shortened"] += 1
    counts["beginnings_left_out"] += kept[0] > 0
    counts["middles_left_out"] += kept[-1] - kept[0] >= len(kept)
    counts["mentions_shortened"] += sum(
        len(_kept_in_mention(kept, mention)) < mention.last - mention.first for mention in mentions
    )


def _read_places(
    pooling: Pooling, kept: Sequence[int], mentions: Sequence[Mention], before: int, whole: int
) -> tuple[list[int], list[int] | None]:
    """Return the places that the head reads, and the number of places pooled to each encoding.

    A mention in a text without subwords is read at `whole`, the place that represents the input.
    """
    if pooling == "cls":
        return [whole], None
    if pooling == "entity-start":
        starts = [mention.marks[0] for mention in mentions if mention.marks]
        return [before + kept.index(start) for start in starts], None
    runs = [[before + at for at in _kept_in_mention(kept, mention)] or [whole] for mention in mentions]
    return [place for run in runs for place in run], [len(run) for run in runs]


def _kept_in_mention(kept: Sequence[int], mention: Mention) -> range:
    """Return which of the kept subwords belong to the mention."""
    return range(bisect_left(kept, mention.first), bisect_left(kept, mention.last))
