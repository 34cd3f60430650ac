"""An article of PMC as text: JATS XML (and the NLM DTD before it).

What becomes text:

- The title: `article-title` and `subtitle`, without footnote markers (`xref`, `fn`).
- The abstract: those without an `abstract-type`, or the first of a prose type where there is none
  (`PROSE_ABSTRACTS`). Graphical abstracts, teasers, tables of contents, highlights, editors' and lay
  summaries, and translations (`trans-abstract`) are left out.
- The body by section; nested titles stand in the label, `Methods > Statistics`. Paragraphs, list items'
  paragraphs, terms and captions are lines. Figures, tables and boxes float in print, often in the middle of
  a sentence: their captions and paragraphs follow the paragraphs of their section. Those that a
  `floats-group` holds come last.

All text inside paragraphs is kept whole: inline tags, sub- and superscripts, Greek, and the markers of
citations and other cross-references ("as shown before [12]"). Of formulas the characters of MathML are kept,
TeX is not.

Never text: `back` (references, acknowledgements, appendices), reference lists, labels (the numbers of
sections, figures, list items), TeX, descriptions of graphics, permissions. `LEAVABLE` names what a source's
spec leaves out beside.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lxml import etree

from pubmill.corpus.licences import licence_at
from pubmill.corpus.shards import Document, Sections, single_spaced
from pubmill.corpus.text import LANGUAGES
from pubmill.errors import PubmillError

LEAVABLE: dict[str, tuple[str, ...]] = {
    "captions": ("caption",),
    "footnotes": ("fn", "fn-group", "table-wrap-foot"),
    "formulas": ("disp-formula", "disp-formula-group"),
    "supplements": ("supplementary-material",),
    "tables": ("table", "array"),
}
"""What a spec can leave out, by name; beside these `sub-articles`: their bodies."""

NEVER = (
    "alt-text", "label", "long-desc", "object-id", "permissions", "ref-list", "tex-math",
    "{http://www.w3.org/1998/Math/MathML}annotation", "{http://www.w3.org/1998/Math/MathML}annotation-xml",
)  # fmt: skip
LINES = (
    "p", "title", "subtitle", "term", "td", "th", "attrib", "verse-line", "preformat", "speaker", "kwd",
)  # fmt: skip
SPACED = ("break", "disp-formula")
FLOATS = (
    "boxed-text", "fig", "fig-group", "supplementary-material", "table-wrap", "table-wrap-group",
)  # fmt: skip
PROSE_ABSTRACTS = ("normal", "summary", "executive-summary", "short", "precis")
# Dates of a manuscript's way into PMC are no dates of publication.
OTHER_DATES = ("pmc-release", "nihms-submitted", "received", "accepted", "preprint", "epreprint")

_XML = "{http://www.w3.org/XML/1998/namespace}"
_DOCTYPE = re.compile(rb"<!DOCTYPE[^<>\[]*>")
_BREAKS = re.compile(rb"[\r\n]|&#(?:0*1[03]|x0*[aAdD]);")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a source says of an article beside its XML; "" where it says nothing."""

    pmcid: int
    version: int = 1
    date: str = ""
    licence: str = ""
    flags: tuple[str, ...] = ()


class JatsReader:
    """Reads articles; counts the elements that its spec leaves out, in `left_out`."""

    def __init__(self, leave_out: Collection[str]) -> None:
        self.sub_articles = "sub-articles" not in leave_out
        self.chosen = tuple(tag for name in leave_out for tag in LEAVABLE.get(name, ()))
        self.left_out: Counter[str] = Counter()

    def __call__(self, data: bytes, facts: Facts, where: str) -> Document:
        """Read one article.

        Raises `PubmillError` (with `where`) for malformed XML, declared or undefined entities, another
        root than `article`, an encoding other than UTF-8, and another PMCID than the one expected.
        """
        root = parse(data, where)
        meta = root.find("front/article-meta")
        if meta is None:
            raise PubmillError(f"{where}: <article> without <front> and <article-meta>")
        check_pmcid(meta, facts.pmcid, where)
        return Document(
            id=f"pmc:{facts.pmcid}",
            version=facts.version,
            date=facts.date,
            published=_year(meta),
            languages=_languages(root),
            types=(kind,) if (kind := root.get("article-type", "")) else (),
            licence=facts.licence or _licence(meta),
            title=_title(meta),
            sections=tuple(part for abstract in _abstracts(meta) for part in self._sections(abstract)),
            body=tuple(part for place in self._bodies(root) for part in self._sections(place)),
            flags=facts.flags,
        )

    def _bodies(self, root: etree._Element) -> Iterator[etree._Element]:
        yield from root.iterchildren("body")
        yield from root.iterchildren("floats-group")
        for part in root.iter("sub-article", "response"):
            if self.sub_articles:
                yield from part.iterchildren("body", "floats-group")
            elif part.find("body") is not None:
                self.left_out["sub-articles"] += 1

    def _sections(self, whole: etree._Element) -> Sections:
        """The text of `whole` by section, in order, a nested section after its parent's own text.

        Line feeds are none in the tree (`parse`), so here they mark the ends of lines. Sections and floats
        are read from the last one back, and emptied: what is nested is gone when its parent is read.
        """
        for element in list(whole.iter(*NEVER)):
            element.clear(keep_tail=True)
        for element in list(whole.iter(*self.chosen)) if self.chosen else ():
            self.left_out[str(element.tag)] += 1
            element.clear(keep_tail=True)
        places = [whole, *whole.iter("sec", *FLOATS)]
        places = places if places[1:2] != [whole] else places[1:]
        labels = _labels(places)
        for element in whole.iter(*LINES):
            element.text = f"\n{element.text or ''}"
            element.tail = f"\n{element.tail or ''}"
        for element in whole.iter(*SPACED):
            element.tail = f" {element.tail or ''}"
        texts: dict[etree._Element, list[str]] = {}
        for place in reversed(places):
            own = [etree.tostring(place, method="text", encoding="unicode", with_tail=False)]
            own += reversed(texts.pop(place, []))
            if place in labels:
                texts[place] = own
            else:
                texts.setdefault(_section_of(place, labels), []).append("\n".join(own))
            place.clear(keep_tail=True)
        found = ((labels[place], _lines("\n".join(texts[place]))) for place in places if place in labels)
        return tuple((label, text) for label, text in found if text)


def parse(data: bytes, where: str) -> etree._Element:
    """The root of an article; no line feeds are left in it, nothing is expanded or fetched."""
    plain = without_doctype(data, where)
    try:
        root: etree._Element = etree.fromstring(_BREAKS.sub(b" ", plain), _PARSER)
    except etree.XMLSyntaxError as fault:
        raise PubmillError(f"{_place(plain, where, fault)}: malformed XML: {fault.msg}") from None
    encoding = (root.getroottree().docinfo.encoding or "UTF-8").upper()
    if encoding not in ("UTF-8", "US-ASCII", "ASCII"):
        raise PubmillError(f"{where}: is encoded as {encoding}; PMC's articles are UTF-8")
    if root.tag != "article":
        raise PubmillError(f"{where}: its root is <{root.tag}>; expected <article>, JATS as PMC gives it")
    return root


def without_doctype(data: bytes, where: str) -> bytes:
    """The XML without its document type, which the parser so never sees; one that declares is refused."""
    start = data.find(b"<!DOCTYPE")
    if start >= 0:
        plain = _DOCTYPE.match(data, start)
        if plain:
            lines = b"\n" * plain[0].count(b"\n")
            data = data[:start] + lines + data[plain.end() :]
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise PubmillError(
            f"{where}: declares entities or other markup of its own in its document type, which PMC's articles "
            f"never do; expanding such entities can exhaust memory or read local files, so it is refused"
        )
    return data


def check_pmcid(meta: etree._Element, expected: int, where: str) -> None:
    """That the article names no other PMCID than the one it is filed under."""
    for element in meta.iterchildren("article-id"):
        if element.get("pub-id-type") in ("pmc", "pmcid"):
            number = (element.text or "").strip().removeprefix("PMC")
            if number != str(expected):
                raise PubmillError(f"{where}: is filed as PMC{expected}, but its XML says PMC{number}")


_PARSER = etree.XMLParser(
    resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
    remove_comments=True, remove_pis=True, collect_ids=False,
)  # fmt: skip


def _place(plain: bytes, where: str, fault: etree.XMLSyntaxError) -> str:
    """File and line of a fault; the line feeds that tell lines were not in what was parsed."""
    try:
        etree.fromstring(plain, _PARSER)
    except etree.XMLSyntaxError as same:
        fault = same
    return f"{where}:{fault.lineno}"


def _labels(places: list[etree._Element]) -> dict[etree._Element, str]:
    """Each section's titles from the outermost in; the titles are taken out of the tree. Floats have none."""
    labels = {places[0]: ""}
    _take_title(places[0])
    for place in places[1:]:
        if place.tag == "sec":
            outer = labels[_section_of(place, labels)]
            own = _take_title(place)
            labels[place] = f"{outer} > {own}" if outer and own else outer or own
    return labels


def _section_of(place: etree._Element, labels: dict[etree._Element, str]) -> etree._Element:
    return next(outer for outer in place.iterancestors() if outer in labels)


def _take_title(place: etree._Element) -> str:
    title = next(place.iterchildren("title"), None)
    if title is None:
        return ""
    text = _heading(title)
    title.clear(keep_tail=True)
    return text


def _heading(element: etree._Element) -> str:
    """The text of a title without footnotes and the markers of footnotes and references."""
    for marker in list(element.iter("xref", "fn")):
        marker.clear(keep_tail=True)
    for line in element.iter("break"):
        line.tail = f" {line.tail or ''}"
    return _text(element)


def _text(element: etree._Element) -> str:
    """All text inside, however deeply nested."""
    return single_spaced(etree.tostring(element, method="text", encoding="unicode", with_tail=False))


def _lines(text: str) -> str:
    return "\n".join(line for part in text.split("\n") if (line := single_spaced(part)))


def _title(meta: etree._Element) -> str:
    group = meta.find("title-group")
    parts = () if group is None else group.iterchildren("article-title", "subtitle")
    return " ".join(text for part in parts if (text := _heading(part)))


def _abstracts(meta: etree._Element) -> list[etree._Element]:
    found = list(meta.iterchildren("abstract"))
    plain = [abstract for abstract in found if not abstract.get("abstract-type")]
    return plain or [a for a in found if a.get("abstract-type") in PROSE_ABSTRACTS][:1]


def _languages(root: etree._Element) -> tuple[str, ...]:
    code = root.get(f"{_XML}lang", "").lower().partition("-")[0]
    return (LANGUAGES.get(code, code),) if code else ()


def _year(meta: etree._Element) -> str:
    """The earliest year of publication, in print or online."""
    years = [
        text
        for date in meta.iterchildren("pub-date")
        if not {date.get("pub-type"), date.get("date-type")} & set(OTHER_DATES)
        if _YEAR.fullmatch(text := date.findtext("year", "").strip())
    ]
    return min(years, default="")


def _licence(meta: etree._Element) -> str:
    """The first Creative Commons licence that a link or text among the permissions names."""
    for licence in meta.iterfind("permissions/license"):
        for element in licence.iter():
            named = [*map(str, element.values()), element.text or "", element.tail or ""]
            if code := next((code for text in named if (code := licence_at(text))), ""):
                return code
    return ""
