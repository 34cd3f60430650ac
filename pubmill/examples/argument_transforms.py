"""Transforms of entity mentions in a model's input: dummies in their place, or markers around them.

Examples store mentions as character spans; a transform is applied when a model reads them (gu2020 section
5.2, Table 12) or when a published form is written. Standard library only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Transformed:
    """A text, and the new character span (start, end) of each entity, in the entities' order."""

    text: str
    spans: list[Span]


def dummies(text: str, entities: Sequence[Entity], types: Mapping[str, str], overlap: str) -> Transformed:
    """Replace each mention by its type's dummy (`@GENE$`), and overlapping mentions together by `overlap`.

    Each `{}` of `overlap` becomes the word of one of these mentions' dummies, in the entities' order:
    `@{}-{}$` becomes `@GENE-DRUG$`. Mentions that only touch do not overlap.

    Raises a `PubmillError` for an entity type without a dummy, and if `overlap` has `{}`, but not one
    for each of the overlapping mentions.
    """
    others = sorted({entity.type for entity in entities} - types.keys())
    if others:
        raise PubmillError(f"no dummy is given for entities of type {', '.join(others)}; add it to `dummies`")
    spans: dict[int, Span] = {}
    pieces: list[str] = []
    length = done = 0
    for group in _overlapping(entities):
        start, end = min(entities[i].start for i in group), max(entities[i].end for i in group)
        of_each = [types[entities[i].type] for i in sorted(group)]
        dummy = of_each[0] if len(group) == 1 else overlap
        if len(group) > 1 and "{}" in overlap:
            if overlap.count("{}") != len(group):
                raise PubmillError(
                    f"{len(group)} mentions overlap; the dummy {overlap} is for {overlap.count('{}')}"
                )
            dummy = overlap.format(*(one.strip("@$") for one in of_each))
        pieces += [text[done:start], dummy]
        length += start - done
        for i in group:
            spans[i] = (length, length + len(dummy))
        length += len(dummy)
        done = end
    return Transformed("".join(pieces) + text[done:], [spans[i] for i in range(len(entities))])


def _overlapping(entities: Sequence[Entity]) -> list[list[int]]:
    """Return the indices of the entities in text order, with overlapping ones in one group."""
    groups: list[list[int]] = []
    end = 0
    for i in sorted(range(len(entities)), key=lambda i: (entities[i].start, entities[i].end)):
        if entities[i].start < end:
            groups[-1].append(i)
        else:
            groups.append([i])
        end = max(end, entities[i].end)
    return groups


def markers(text: str, entities: Sequence[Entity], marks: Sequence[tuple[str, str]]) -> Transformed:
    """Put each mention between its own pair of marks (`[E1] `, ` [/E1]`), one pair for each entity. The spans
    are those of the mentions without their own marks; if mentions nest or cross, they may contain marks of
    the other one."""
    # At the same position, closing marks precede opening ones; the longer mention opens first, closes last.
    openings = [(e.start, True, -e.end, i) for i, e in enumerate(entities)]
    closings = [(e.end, False, -e.start, -i) for i, e in enumerate(entities)]
    starts, ends = dict[int, int](), dict[int, int]()
    pieces: list[str] = []
    length = done = 0
    for place, opens, _, i in sorted(openings + closings):
        mark = marks[i][0] if opens else marks[-i][1]
        length += place - done
        if not opens:
            ends[-i] = length
        length += len(mark)
        if opens:
            starts[i] = length
        pieces += [text[done:place], mark]
        done = place
    return Transformed("".join(pieces) + text[done:], [(starts[i], ends[i]) for i in range(len(entities))])
