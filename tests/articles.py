"""The text of articles by the plainest reading there is, to compare with."""

import copy
import re
from collections import Counter

from lxml import etree

from pubmill.corpus.jats import LEAVABLE, NEVER
from pubmill.corpus.shards import Sections

USUAL = ("footnotes", "formulas", "sub-articles", "supplements", "tables")
"""What a spec leaves out, if it leaves out anything."""


def bare(text: str) -> str:
    return re.sub(r"\s", "", text)


def characters(sections: Sections) -> Counter[str]:
    return Counter(bare("".join(text for _, text in sections)))


def characters_below(
    root: etree._Element, path: str, unwanted: list[str], titled: tuple[str, ...]
) -> Counter[str]:
    """The characters by the plainest reading: all text below a path, but in unwanted elements and titles."""
    places = [copy.deepcopy(place) for place in root.xpath(path)]
    for place in places:
        place.tail = None
        for title in list(place.iter("title")):
            if title.getparent() is place or title.getparent().tag in titled:
                title.tag = "taken-title"
        etree.strip_elements(place, "taken-title", *unwanted, with_tail=False)
    return Counter(bare("".join("".join(place.itertext()) for place in places)))


def body_characters(root: etree._Element, leave_out: tuple[str, ...]) -> Counter[str]:
    places = "/article" if "sub-articles" in leave_out else "//*"
    left = [tag for name in leave_out for tag in LEAVABLE.get(name, ())]
    return characters_below(root, f"{places}/*[self::body or self::floats-group]", [*NEVER, *left], ("sec",))
