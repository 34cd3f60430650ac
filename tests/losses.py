"""Find the pieces of a text that a parser loses: each piece has a number, which is searched in the output."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator

from lxml import etree

_NUMBER = re.compile("\ue000([0-9]+)\ue001")

Piece = tuple[int, str]
"""Number of characters that are not white space, and the kind of place."""
Kind = Callable[[list[str]], str]
"""Function that returns the kind of a place from its tags, from the outermost to the innermost."""


def number(places: Iterable[etree._Element], never: Collection[str], kind: Kind) -> list[Piece]:
    """Prefix each piece of text below `places` with its number, except those in `never`."""
    pieces: list[Piece] = []
    for place in places:
        for element, name, tags in list(_texts(place, never, [])):
            text = getattr(element, name)
            setattr(element, name, f"\ue000{len(pieces)}\ue001{text}")
            pieces.append((len("".join(text.split())), kind(tags)))
    return pieces


def _texts(
    element: etree._Element, never: Collection[str], above: list[str]
) -> Iterator[tuple[etree._Element, str, list[str]]]:
    tags = [*above, str(element.tag)]
    if element.text and element.text.strip():
        yield element, "text", tags
    for child in element:
        if child.tag not in never:
            yield from _texts(child, never, tags)
        if child.tail and child.tail.strip():
            yield child, "tail", tags


def found(texts: Iterable[str]) -> set[int]:
    return {int(number) for text in texts for number in _NUMBER.findall(text)}


def characters(pieces: list[Piece], chosen: Collection[int]) -> Counter[str]:
    count: Counter[str] = Counter()
    for place in chosen:
        size, kind = pieces[place]
        count[kind] += size
    return count
