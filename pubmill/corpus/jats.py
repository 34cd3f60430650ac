"""An article of PMC as text: JATS XML (and the NLM DTD before it).

What becomes text:

- The title: `article-title` and `subtitle`, without footnote markers (`xref`, `fn`).
- The abstract: those without an `abstract-type`, or the first of a prose type where there is none
  (`PROSE_ABSTRACTS`). Graphical abstracts, teasers, tables of contents, highlights, editors' and lay
  summaries, and translations (`trans-abstract`) are left out.
- The body by section; nested titles stand in the label, `Methods > Statistics`. Paragraphs, list items'
  paragraphs, terms and captions are lines. Figures, tables and boxes float in print, often in the middle of
  a sentence: their captions and paragraphs follow the paragraphs of their section. Those that a
  `floats-group` holds come last. A footnote inside a sentence is a line after the one that it stands in.
- A blank parts words wherever an element that is no inline tag begins or ends, kept or left out.

All text inside paragraphs is kept whole: inline tags, sub- and superscripts, Greek, and the markers of
citations and other cross-references ("as shown before [12]"). Of formulas the characters of MathML are kept,
TeX is not.

Never text: `back` (references, acknowledgements, appendices), reference lists, labels (the numbers of
sections, figures, list items), TeX, descriptions of graphics, permissions. `LEAVABLE` names what a source's
spec leaves out beside.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator

from lxml import etree

from pubmill.corpus.article_metadata import Facts, plain_pmid
from pubmill.corpus.article_xml import parse
from pubmill.corpus.json_lines import LANGUAGES
from pubmill.corpus.licences import licence_at
from pubmill.corpus.shards import Document, Sections
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
    "p", "subtitle", "term", "attrib", "verse-line", "preformat", "code", "speaker", "kwd", "td", "th",
    "address", "answer", "answer-set", "array", "block-alternatives", "caption", "chem-struct-wrap", "def",
    "def-list", "disp-quote", "explanation", "fn", "fn-group", "kwd-group", "list", "list-item", "question",
    "question-wrap", "question-wrap-group", "speech", "statement", "table", "table-wrap-foot", "verse-group",
)  # fmt: skip
SPACED = ("break", "disp-formula", "disp-formula-group", "graphic", "media")
FLOATS = (
    "boxed-text", "fig", "fig-group", "supplementary-material", "table-wrap", "table-wrap-group",
)  # fmt: skip
# Left out, these part no words: a blank stands there if the author wrote one.
INLINE = ("alt-text", "label", "long-desc", "object-id", "tex-math", *NEVER[-2:])
# Lines of text, in which a footnote may stand; and what else encloses footnotes.
SENTENCES = ("p", "subtitle", "term", "attrib", "verse-line", "speaker", "td", "th", "title")
ENCLOSURES = ("fn-group", "table-wrap-foot", *FLOATS)
BLOCKS = frozenset((*LINES, *FLOATS, "sec", "title"))
TITLED = ("sec", "body", "abstract", "floats-group")
PROSE_ABSTRACTS = ("normal", "summary", "executive-summary", "short", "precis")
# Dates of a manuscript's way into PMC are no dates of publication.
OTHER_DATES = ("pmc-release", "nihms-submitted", "received", "accepted", "preprint", "epreprint")
# Marks that sort the text: a noncharacter of Unicode, which no text may hold, and what begins or ends there.
MARK = "\ufdd0"
LINE, SECTION, TITLE, FLOAT, END = (MARK + letter for letter in "lstfe")

_XML = "{http://www.w3.org/XML/1998/namespace}"
_RUNS = re.compile("  +")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


class JatsReader:
    """Reads articles without what `leave_out` names (`LEAVABLE`); `left_out` counts those elements by tag."""

    def __init__(self, leave_out: Collection[str], left_out: Counter[str] | None = None) -> None:
        self.left_out: Counter[str] = Counter() if left_out is None else left_out
        self._sub_articles = "sub-articles" not in leave_out
        self._chosen = {tag for name in leave_out for tag in LEAVABLE.get(name, ())}
        self._marks: dict[str, Callable[[etree._Element], None]] = {
            **dict.fromkeys(LINES, _mark_line),
            **dict.fromkeys(SPACED, _mark_space),
            **dict.fromkeys(FLOATS, _mark_float),
            "sec": _mark_section,
            "title": _mark_title,
            **dict.fromkeys((*NEVER, *self._chosen), self._empty),
        }
        if "table" in self._chosen:
            del self._marks["td"], self._marks["th"]  # many, and all of them in what is emptied

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
            pmid=facts.pmid or pmid(meta),
            date=facts.date,
            published=_year(meta),
            languages=languages(root),
            types=types(root),
            licence=facts.licence or _licence(meta),
            title=_title(meta),
            sections=tuple(part for abstract in _abstracts(meta) for part in self._sections(abstract)),
            body=tuple(part for place in self._bodies(root) for part in self._sections(place)),
            flags=facts.flags,
        )

    def _bodies(self, root: etree._Element) -> Iterator[etree._Element]:
        yield from root.iterchildren("body")
        yield from root.iterchildren("floats-group")
        for child in root.iterchildren("sub-article", "response"):
            for part in child.iter("sub-article", "response"):
                if self._sub_articles:
                    yield from part.iterchildren("body", "floats-group")
                elif part.find("body") is not None:
                    self.left_out["sub-article"] += 1

    def _sections(self, whole: etree._Element) -> Sections:
        """The text of `whole` by section, in order, a nested section after its parent's own text."""
        marks = self._marks
        if "fn" not in self._chosen:
            for note in reversed(list(whole.iter("fn"))):
                _put_after_its_line(note)
        for element in list(whole.iter(*marks)):
            marks[element.tag](element)
        return _by_section(_text(whole))

    def _empty(self, element: etree._Element) -> None:
        """What is left out loses its content; the text that follows it stays."""
        if element.tag in self._chosen:
            self.left_out[str(element.tag)] += 1
        if element.tag == "fn":
            _take_out(element)
            return
        element.clear(keep_tail=True)  # type: ignore[call-arg]
        if element.tag not in INLINE:
            element.tail = f" {element.tail or ''}"


def _take_out(note: etree._Element) -> None:
    """Detach a footnote; the text behind it stays, and joins no word before it."""
    tail, before, parent = note.tail or "", note.getprevious(), note.getparent()
    tail = f" {tail}" if tail[:1].isalnum() else tail
    if parent is None:
        return
    if before is not None:
        before.tail = f"{before.tail or ''}{tail}"
    else:
        parent.text = f"{parent.text or ''}{tail}"
    note.tail = None
    parent.remove(note)


def _put_after_its_line(note: etree._Element) -> None:
    """Move a footnote out of the sentence that it stands in, which goes on without it."""
    line = next((one for one in note.iterancestors(*SENTENCES, *ENCLOSURES)), None)
    if line is None or line.tag in ENCLOSURES or _is_heading(line):
        return
    _take_out(note)
    line.addnext(note)


def _mark_line(element: etree._Element) -> None:
    element.text = f"{LINE}{element.text or ''}"
    tail = element.tail or ""
    following = element.getnext()
    if (tail and not tail.isspace()) or (following is not None and following.tag not in BLOCKS):
        element.tail = f"{LINE}{tail}"


def _mark_space(element: etree._Element) -> None:
    element.text = f" {element.text or ''}"
    element.tail = f" {element.tail or ''}"


def _mark_section(element: etree._Element) -> None:
    element.text = f"{SECTION}{element.text or ''}"
    element.tail = f"{END} {element.tail or ''}"


def _mark_float(element: etree._Element) -> None:
    element.text = f"{FLOAT}{element.text or ''}"
    element.tail = f"{END} {element.tail or ''}"


def _mark_title(element: etree._Element) -> None:
    """The title of a section is its label; that of a caption or list is a line."""
    if not _is_heading(element):
        _mark_line(element)
        return
    if len(element):
        _clear_markers(element)
    element.text = f"{TITLE}{element.text or ''}"
    element.tail = f"{LINE}{element.tail or ''}"


def _is_heading(element: etree._Element) -> bool:
    """Whether it is the title of a section."""
    parent = element.getparent()
    return element.tag == "title" and parent is not None and parent.tag in TITLED


class _Section:
    """A section while it is read: its label, its own lines, and those of the floats in it."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.own = [""]
        self.floats: list[list[str]] = []

    def text(self) -> str:
        return "\n".join(
            clean for lines in (self.own, *self.floats) for line in lines if (clean := _clean(line))
        )


def _by_section(marked: str) -> Sections:
    """Sort marked text by section."""
    outermost = section = _Section("")
    sections, lines, outer = [outermost], outermost.own, [(outermost, outermost.own)]
    for piece in f"{LINE}{marked}".split(MARK)[1:]:
        mark, text = piece[0], piece[1:]
        if mark == "l":
            lines.append(text)
        elif mark == "e":
            section, lines = outer.pop()
            lines[-1] += text
        elif mark == "t":
            # The outermost title says `Abstract`.
            title = _clean(text) if section is not outermost else ""
            section.label = " > ".join(filter(None, (section.label, title)))
        else:
            outer.append((section, lines))
            lines = [text]
            if mark == "s":
                section = _Section(section.label)
                section.own = lines
                sections.append(section)
            else:
                section.floats.append(lines)
    return tuple((section.label, text) for section in sections if (text := section.text()))


def _clean(line: str) -> str:
    line = line.strip(" ")
    return _RUNS.sub(" ", line) if "  " in line else line


def check_pmcid(meta: etree._Element, expected: int, where: str) -> None:
    """That the article names no other PMCID than the one it is filed under."""
    for element in meta.iterchildren("article-id"):
        if element.get("pub-id-type") in ("pmc", "pmcid"):
            number = (element.text or "").strip().removeprefix("PMC")
            if number != str(expected):
                raise PubmillError(f"{where}: is filed as PMC{expected}, but its XML says PMC{number[:40]}")


def pmid(meta: etree._Element) -> str:
    """The PMID that an article names, as PubMed writes it; "" where it names none."""
    for element in meta.iterchildren("article-id"):
        if element.get("pub-id-type") == "pmid":
            return plain_pmid(element.text or "")
    return ""


def _heading(element: etree._Element) -> str:
    """The text of a title without footnotes and the markers of footnotes and references."""
    if len(element):
        _clear_markers(element)
    return _clean(_text(element))


def _clear_markers(title: etree._Element) -> None:
    for element in list(title.iter("xref", "fn", "break", *NEVER)):
        if element.tag == "break":
            _mark_space(element)
        elif element.tag == "fn":
            _take_out(element)
        else:
            element.clear(keep_tail=True)  # type: ignore[call-arg]


def _text(element: etree._Element) -> str:
    """All text inside, however deeply nested, on one line."""
    text: str = etree.tostring(element, method="text", encoding="unicode", with_tail=False)
    return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")


def _title(meta: etree._Element) -> str:
    group = meta.find("title-group")
    parts = () if group is None else group.iterchildren("article-title", "subtitle")
    return " ".join(text for part in parts if (text := _heading(part)))


def _abstracts(meta: etree._Element) -> list[etree._Element]:
    found = list(meta.iterchildren("abstract"))
    plain = [abstract for abstract in found if not abstract.get("abstract-type")]
    return plain or [a for a in found if a.get("abstract-type") in PROSE_ABSTRACTS][:1]


def languages(root: etree._Element) -> tuple[str, ...]:
    """The language of an article by three letters; where none is named, English.

    JATS declares `xml:lang NMTOKEN 'en'` for `article` (`article-atts` in JATS-journalpublishing1.dtd): a
    default that the DTD supplies, which is never loaded here.
    """
    code = root.get(f"{_XML}lang", "en").lower().partition("-")[0]
    return (LANGUAGES.get(code, code),)


def types(root: etree._Element) -> tuple[str, ...]:
    """The kind of an article, such as `research-article`."""
    return (kind,) if (kind := root.get("article-type", "")) else ()


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
