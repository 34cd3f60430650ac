"""Reference text of articles from the simplest possible reader, to compare with."""

import copy
from collections import Counter
from typing import Any

from lxml import etree

from pubmill.corpus.jats import CELLS, LEAVABLE, NEVER, TABLES
from pubmill.corpus.shards import Sections

USUAL = ("footnotes", "formulas", "sub-articles", "supplements", "tables")
"""Elements that a spec may leave out."""


def bare(text: str) -> str:
    return "".join(text.split())


def characters(sections: Sections) -> Counter[str]:
    return Counter(bare("".join(text for _, text in sections)))


INLINE = {
    "abbrev", "abbreviation", "alt-text", "alternatives", "award-id", "bold", "chem-struct", "collab",
    "email",
    "ext-link", "fixed-case", "fn", "funding-source", "glyph-data", "glyph-ref", "grant-num", "grant-sponsor",
    "hr", "index-term", "inline-formula", "inline-graphic", "inline-media", "inline-supplementary-material",
    "institution", "italic", "label", "long-desc", "milestone-end", "milestone-start", "monospace",
    "named-content", "object-id", "overline", "private-char", "rb", "related-article", "related-object",
    "roman",
    "rt", "ruby", "sans-serif", "sc", "strike", "styled-content", "sub", "sup", "target", "tex-math",
    "textual-form", "underline", "uri", "xref",
}  # fmt: skip
"""Tags of JATS that may occur inside a word, as may those of MathML except `PARTING`. All others separate
words.

`hr` is a rule below a table's head; the only one between letters in the real articles is inside a word.
"""


_MATHML = "{http://www.w3.org/1998/Math/MathML}"
PARTING = {f"{_MATHML}{name}" for name in ("mspace", "mtd", "mtr", "mlabeledtr")} | {*TABLES, *CELLS}
"""Tags with a namespace that separate words."""

_WITHOUT_LAYOUT = etree.XSLT(
    etree.XML(
        """<s:stylesheet version="1.0" xmlns:s="http://www.w3.org/1999/XSL/Transform"
                         xmlns:m="http://www.w3.org/1998/Math/MathML">
          <s:strip-space elements="m:* alternatives"/>
          <s:preserve-space elements="m:annotation m:ci m:cn m:csymbol m:mi m:mn m:mo m:ms m:mtext"/>
          <s:template match="@*|node()"><s:copy><s:apply-templates select="@*|node()"/></s:copy></s:template>
        </s:stylesheet>"""
    )
)
"""The declarations of white space in NCBI's jats-html.xsl that concern formulas, applied by libxslt."""


def words(sections: Sections) -> Counter[str]:
    return Counter(word for _, text in sections for word in text.split())


def words_below(root: Any, path: str, unwanted: list[str], titled: tuple[str, ...]) -> Counter[str]:
    """Count the words below a path: as `characters_below`, with a space at both ends of every block."""
    found: Counter[str] = Counter()
    bare: Any = _WITHOUT_LAYOUT(root)
    for place in [copy.deepcopy(place) for place in bare.xpath(path)]:
        place.tail = None
        for title in list(place.iter("title")):
            if title.getparent() is place or title.getparent().tag in titled:
                title.tag = "taken-title"
        for element in place.iterdescendants():
            if element.tag in PARTING or not (element.tag in INLINE or element.tag.startswith("{")):
                element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"
            elif element.tag == "fn" and (element.tail or "")[:1].isalnum():
                element.tail = f" {element.tail}"
        etree.strip_elements(place, "taken-title", *unwanted, with_tail=False)
        for note in reversed(list(place.iter("fn"))):
            found.update("".join(note.xpath(".//text()")).split())
            note.tag = "taken-note"
            etree.strip_elements(place, "taken-note", with_tail=False)
        found.update("".join(place.itertext()).split())
    return found


def characters_below(root: Any, path: str, unwanted: list[str], titled: tuple[str, ...]) -> Counter[str]:
    """Count the characters below a path: all text except that in unwanted elements and titles."""
    places = [copy.deepcopy(place) for place in root.xpath(path)]
    for place in places:
        place.tail = None
        for title in list(place.iter("title")):
            if title.getparent() is place or title.getparent().tag in titled:
                title.tag = "taken-title"
        etree.strip_elements(place, "taken-title", *unwanted, with_tail=False)
    return Counter(bare("".join("".join(place.itertext()) for place in places)))


def body_characters(root: Any, leave_out: tuple[str, ...]) -> Counter[str]:
    return characters_below(root, *_of_body(leave_out))


def body_words(root: Any, leave_out: tuple[str, ...]) -> Counter[str]:
    return words_below(root, *_of_body(leave_out))


def _of_body(leave_out: tuple[str, ...]) -> tuple[str, list[str], tuple[str, ...]]:
    places = "/article" if "sub-articles" in leave_out else "//*"
    left = [tag for name in leave_out for tag in LEAVABLE.get(name, ())]
    return f"{places}/*[self::body or self::floats-group]", [*NEVER, *left], ("sec",)
