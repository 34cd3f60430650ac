"""Reference text of articles from the simplest possible reader, to compare with."""

import copy
import re
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
    "abbrev", "abbreviation", "alt-text", "alternatives", "bold", "chem-struct", "email", "ext-link",
    "fixed-case", "fn", "glyph-data", "glyph-ref", "hr", "index-term", "index-term-range-end",
    "inline-formula", "inline-graphic", "inline-media", "inline-supplementary-material", "italic", "label",
    "long-desc", "milestone-end", "milestone-start", "monospace", "named-content", "object-id", "overline",
    "overline-end", "overline-start", "private-char", "rb", "related-article", "related-object", "roman",
    "rt", "ruby", "sans-serif", "sc", "strike", "styled-content", "sub", "sup", "target", "tex-math",
    "textual-form", "underline", "underline-end", "underline-start", "uri", "x", "xref",
}  # fmt: skip
"""Tags of JATS that may occur inside a word, as may those of MathML except `PARTING`. All others separate
words.

`hr` is a rule below a table's head; the only one between letters in the real articles is inside a word.
"""
PHRASES = {
    "addr-line", "award-id", "city", "collab", "contract-num", "contract-sponsor", "country",
    "element-citation", "fax", "fpage", "funding-source", "given-names", "grant-num", "grant-sponsor",
    "institution", "lpage", "mixed-citation", "name", "person-group", "phone", "product", "sig", "source",
    "state", "string-name", "surname", "volume", "year",
}  # fmt: skip
"""Tags that separate words, but not from punctuation beside them."""
NOTES = ("aff", "author-notes", "corresp", "fn", "table-fn")
"""Values of `ref-type` of footnote markers, which are left out of titles."""
STYLES = {
    "bold", "ext-link", "italic", "named-content", "roman", "sans-serif", "sc", "styled-content", "underline",
}  # fmt: skip
# Ends of species' names and of styles that meet the beginning of another, without text between.
_NAMES_MEET = re.compile(
    "(?<=\ue002)[\ue002\ue004]*(?=[\ue001\ue003])|(?<=[\ue002\ue004])[\ue003]*(?=\ue001)"
)
# The ends of elements that separate words, beside punctuation.
_PUNCTUATED = re.compile("\ue000+(?=[,.;:!?%)\\]}])|(?<=[(\\[{])\ue000+")


_MATHML = "{http://www.w3.org/1998/Math/MathML}"
PARTING = {f"{_MATHML}{name}" for name in ("mspace", "mtd", "mtr", "mlabeledtr")} | {*TABLES, *CELLS}
"""Tags with a namespace that separate words."""

written_out = etree.XSLT(
    etree.XML(
        """<s:stylesheet version="1.0" xmlns:s="http://www.w3.org/1999/XSL/Transform"
                         xmlns:m="http://www.w3.org/1998/Math/MathML">
          <s:strip-space elements="m:* alternatives"/>
          <s:preserve-space elements="m:annotation m:ci m:cn m:csymbol m:mi m:mn m:mo m:ms m:mtext"/>
          <s:template match="m:mfenced">
            <s:variable name="given" select="translate(@separators, ' &#9;&#10;&#13;', '')"/>
            <s:variable name="marks" select="concat($given, substring(',', 1 + count(@separators)))"/>
            <s:copy>
              <s:value-of select="concat(normalize-space(@open), substring('(', 1 + count(@open)))"/>
              <s:for-each select="*">
                <s:apply-templates select="."/>
                <s:if test="following-sibling::*">
                  <s:value-of select="substring(concat(substring($marks, position(), 1),
                                                       substring($marks, string-length($marks))), 1, 1)"/>
                </s:if>
              </s:for-each>
              <s:value-of select="concat(normalize-space(@close), substring(')', 1 + count(@close)))"/>
            </s:copy>
          </s:template>
          <s:template match="@*|node()"><s:copy><s:apply-templates select="@*|node()"/></s:copy></s:template>
        </s:stylesheet>"""
    )
)
"""The declarations of white space in NCBI's jats-html.xsl that concern formulas, applied by libxslt, and the
brackets and separators of `mfenced` as text."""


def words(sections: Sections) -> Counter[str]:
    return Counter(word for _, text in sections for word in text.split())


def words_below(root: Any, path: str, unwanted: list[str], titled: tuple[str, ...]) -> Counter[str]:
    """Count the words below a path: as `characters_below`, with a space at both ends of every block."""
    found: Counter[str] = Counter()
    for place in _places(root, path):
        _mark_titles(place, titled)
        for element in place.iterdescendants():
            if element.tag in PARTING or not (element.tag in INLINE or element.tag.startswith("{")):
                edge = "\ue000" if element.tag in PHRASES else " "
                element.text, element.tail = f"{edge}{element.text or ''}", f"{edge}{element.tail or ''}"
            elif element.tag in STYLES:
                _mark_style(element)
            elif element.tag == "fn" and (element.tail or "")[:1].isalnum():
                element.tail = f" {element.tail}"
        etree.strip_elements(place, "taken-title", *unwanted, with_tail=False)
        for note in reversed(list(place.iter("fn"))):
            found.update(_spaced(note).split())
            note.tag = "taken-note"
            etree.strip_elements(place, "taken-note", with_tail=False)
        found.update(_spaced(place).split())
    return found


def _places(root: Any, path: str) -> list[Any]:
    written: Any = written_out(root)
    return [copy.deepcopy(place) for place in written.xpath(path)]


def _mark_titles(place: Any, titled: tuple[str, ...]) -> None:
    place.tail = None
    for title in list(place.iter("title")):
        if title.getparent() is place or title.getparent().tag in titled:
            title.tag = "taken-title"


def _mark_style(element: Any) -> None:
    """Mark where a tag begins and ends, and whether it is a species' name or a part of one."""
    kinds = element.get("content-type", "") + " " + element.getparent().get("content-type", "")
    begin, end = "\ue001\ue002" if "taxon" in kinds else "\ue003\ue004"
    element.text, element.tail = f"{begin}{element.text or ''}", f"{end}{element.tail or ''}"


def _spaced(place: Any) -> str:
    parted = _PUNCTUATED.sub("", _NAMES_MEET.sub(" ", "".join(place.itertext())))
    return re.sub("[\ue001-\ue004]", "", parted.replace("\ue000", " "))


def characters_below(root: Any, path: str, unwanted: list[str], titled: tuple[str, ...]) -> Counter[str]:
    """Count the characters below a path: all text except that in unwanted elements and titles."""
    places = _places(root, path)
    for place in places:
        _mark_titles(place, titled)
        etree.strip_elements(place, "taken-title", *unwanted, with_tail=False)
    return Counter(bare("".join("".join(place.itertext()) for place in places)))


def body_characters(root: Any, leave_out: tuple[str, ...]) -> Counter[str]:
    return characters_below(root, *_of_body(leave_out))


def body_words(root: Any, leave_out: tuple[str, ...]) -> Counter[str]:
    return words_below(root, *_of_body(leave_out))


def _of_body(leave_out: tuple[str, ...]) -> tuple[str, list[str], tuple[str, ...]]:
    places = "/article" if "sub-articles" in leave_out else "//*"
    left = [tag for name in leave_out for tag in LEAVABLE.get(name, ())]
    return f"{places}/*[self::body or self::floats-group or self::floats-wrap]", [*NEVER, *left], ("sec",)
