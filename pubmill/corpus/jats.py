"""Text of PMC articles in JATS XML (and its predecessor, the NLM DTD).

These parts become text:

- The title: `article-title` and `subtitle`, without footnote markers (`xref`, `fn`).
- The abstract: all those without an `abstract-type`; if there are none, the first one of a prose type
  (`PROSE_ABSTRACTS`). Graphical abstracts, teasers, tables of contents, highlights, editors' and lay
  summaries, and translations (`trans-abstract`) are left out.
- The body by section; the label contains nested titles, `Methods > Statistics`. Paragraphs, list items'
  paragraphs, terms and captions are lines. Figures, tables and boxes float in print, often in the middle of
  a sentence: their captions and paragraphs follow the paragraphs of their section. Those in a
  `floats-group` come last. A footnote inside a sentence becomes the next line.
- A space separates words wherever an element other than an inline tag begins or ends, kept or left out.

All text inside paragraphs is kept: inline tags, sub- and superscripts, Greek, and the markers of citations
and other cross-references ("as shown before [12]"). Formulas keep the characters of MathML, but not their
TeX; their words are those of NCBI's preview stylesheet (jats-html.xsl of ncbi/JATSPreviewStylesheets).

These parts never become text: `back` (references, acknowledgements, appendices), reference lists, labels (the
numbers of sections, figures, list items), TeX, descriptions of graphics, permissions. `LEAVABLE` lists what a
source's spec can leave out in addition.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import partial

from lxml import etree

from pubmill.corpus.article_metadata import ArticleMetadata, licence_at, plain_pmid
from pubmill.corpus.notices import flags_of, related_articles
from pubmill.corpus.own_texts import LANGUAGES
from pubmill.corpus.shards import Document, Sections
from pubmill.corpus.xml_parser import parse
from pubmill.errors import PubmillError

MATHML = "{http://www.w3.org/1998/Math/MathML}"
# The namespaces of OASIS tables in JATS and in the NLM DTD.
_OASIS = (
    "{http://www.niso.org/standards/z39-96/ns/oasis-exchange/table}",
    "{http://docs.oasis-open.org/ns/oasis-exchange/table}",
)
TABLES = ("table", *(f"{space}table" for space in _OASIS))
CELLS = ("td", "th", *(f"{space}entry" for space in _OASIS))

LEAVABLE: dict[str, tuple[str, ...]] = {
    "captions": ("caption",),
    "footnotes": ("fn", "fn-group", "table-wrap-foot"),
    "formulas": ("disp-formula", "disp-formula-group"),
    "supplements": ("supplementary-material",),
    "tables": (*TABLES, "array"),
}
"""Elements that a spec can leave out, by name; the name `sub-articles` leaves out their bodies."""

NEVER = (
    "alt-text", "label", "long-desc", "object-id", "permissions", "ref-list", "tex-math",
    f"{MATHML}annotation", f"{MATHML}annotation-xml",
)  # fmt: skip
LINES = (
    "p", "subtitle", "term", "attrib", "verse-line", "preformat", "code", "speaker", "kwd", *CELLS, *TABLES,
    "address", "answer", "answer-set", "array", "block-alternatives", "caption", "chem-struct-wrap", "def",
    "def-list", "disp-quote", "explanation", "fn", "fn-group", "kwd-group", "list", "list-item", "question",
    "question-wrap", "question-wrap-group", "speech", "statement", "table-wrap-foot", "verse-group",
)  # fmt: skip
SPACED = ("break", "disp-formula", "disp-formula-group", "graphic", "media")
FLOATS = ("boxed-text", "fig", "fig-group", "supplementary-material", "table-wrap", "table-wrap-group")
# Elements of MathML in which white space is text, as in NCBI's jats-html.xsl (`xsl:preserve-space`).
MATHML_TEXT = frozenset(
    MATHML + name for name in ("annotation", "ci", "cn", "csymbol", "mi", "mn", "mo", "ms", "mtext")
)
# Removing these does not separate words: the text has a space there only if the author wrote one.
INLINE = ("alt-text", "label", "long-desc", "object-id", "tex-math", *NEVER[-2:])
# Lines of text that may contain a footnote, and other elements that enclose footnotes.
SENTENCES = ("p", "subtitle", "term", "attrib", "verse-line", "speaker", "title", *CELLS)
ENCLOSURES = ("fn-group", "table-wrap-foot", *FLOATS)
BLOCKS = frozenset((*LINES, *FLOATS, "sec", "title"))
TITLED = ("sec", "body", "abstract", "floats-group")
PROSE_ABSTRACTS = ("normal", "summary", "executive-summary", "short", "precis")
# Dates of a manuscript's path into PMC, which are not dates of publication.
OTHER_DATES = ("pmc-release", "nihms-submitted", "received", "accepted", "preprint", "epreprint")
# Marks that structure the text: a Unicode noncharacter, which no text may contain, and a letter for the kind.
MARK = "\ufdd0"
LINE, SECTION, TITLE, FLOAT, END = (MARK + letter for letter in "lstfe")

_XML = "{http://www.w3.org/XML/1998/namespace}"
_XML_SPACE = " \t\r\n"  # a no-break space is a character like any other
_RUNS = re.compile("  +")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


class JatsReader:
    """Reader of articles without the elements in `leave_out` (`LEAVABLE`); `left_out` counts them by tag."""

    def __init__(self, leave_out: Collection[str], left_out: Counter[str] | None = None) -> None:
        self.left_out: Counter[str] = Counter() if left_out is None else left_out
        self._sub_articles = "sub-articles" not in leave_out
        self._chosen = {tag for name in leave_out for tag in LEAVABLE.get(name, ())}
        self._marks: dict[str, Callable[[etree._Element], None]] = {
            **dict.fromkeys(LINES, _mark_line),
            **dict.fromkeys(SPACED, _mark_space),
            **dict.fromkeys(FLOATS, partial(_mark_nested, FLOAT)),
            **_FORMULA_MARKS,
            "sec": partial(_mark_nested, SECTION),
            "title": _mark_title,
            **dict.fromkeys((*NEVER, *self._chosen), self._drop_content),
        }
        if "table" in self._chosen:
            for cell in CELLS:  # many, and all inside tables, which are emptied
                del self._marks[cell]

    def __call__(self, data: bytes, facts: ArticleMetadata, where: str) -> Document:
        """Read one article. Raises `PubmillError` (with `where`) for malformed XML, declared or undefined
        entities, a root other than `article`, an encoding other than UTF-8, and an unexpected PMCID."""
        root = parse(data, where)
        meta = root.find("front/article-meta")
        if meta is None:
            raise PubmillError(f"{where}: <article> without <front> and <article-meta>")
        check_pmcid(meta, facts.pmcid, where)
        corrections = related_articles(meta)
        return facts.document(*flags_of(types(root), corrections))._replace(
            pmid=facts.pmid or pmid(meta),
            published=_year(meta),
            languages=languages(root),
            types=types(root),
            licence=facts.licence or _licence(meta),
            title=_title(meta),
            sections=tuple(part for abstract in _abstracts(meta) for part in self._sections(abstract)),
            body=tuple(part for place in self._bodies(root) for part in self._sections(place)),
            corrections=corrections,
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
        """Return the text of `whole` by section, in order; a nested section follows its parent's own text."""
        marks = self._marks
        if "fn" not in self._chosen:
            for note in reversed(list(whole.iter("fn"))):
                _move_after_line(note)
        for element in list(whole.iter(*marks)):
            marks[element.tag](element)
        return _split_by_section(_text(whole))

    def _drop_content(self, element: etree._Element) -> None:
        """Remove the content of an element that is left out; the text after it stays."""
        if element.tag in self._chosen:
            self.left_out[etree.QName(element).localname] += 1
        if element.tag == "fn":
            _detach_footnote(element)
            return
        element.clear(keep_tail=True)  # type: ignore[call-arg]
        if element.tag not in INLINE:
            element.tail = f" {element.tail or ''}"


def _detach_footnote(note: etree._Element) -> None:
    """Detach a footnote; the text after it stays, separated from a word before it."""
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


def _move_after_line(note: etree._Element) -> None:
    """Move a footnote out of the sentence that contains it to the line after it."""
    line = next(note.iterancestors(*SENTENCES, *ENCLOSURES), None)
    if line is not None and line.tag not in ENCLOSURES and not _is_heading(line):
        _detach_footnote(note)
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


def _mark_formula(math: etree._Element) -> None:
    """Remove the white space between elements of MathML, which is the publisher's layout and never shown."""
    for element in math.iter():
        if element.tag not in MATHML_TEXT:
            _remove_layout(element)


def _remove_layout(element: etree._Element) -> None:
    """Remove white space between the children of an element that may contain only elements."""
    if not (element.text or "").strip(_XML_SPACE):
        element.text = None
    for child in element:
        if not (child.tail or "").strip(_XML_SPACE):
            child.tail = None


_FORMULA_MARKS = {
    f"{MATHML}math": _mark_formula,
    "alternatives": _remove_layout,
    **dict.fromkeys((f"{MATHML}{name}" for name in ("mspace", "mtd", "mtr", "mlabeledtr")), _mark_space),
}


def _mark_nested(mark: str, element: etree._Element) -> None:
    element.text = f"{mark}{element.text or ''}"
    element.tail = f"{END} {element.tail or ''}"


def _mark_title(element: etree._Element) -> None:
    """Mark the title of a section as its label, and that of a caption or list as a line."""
    if _is_heading(element):
        _clear_markers(element)
        element.text = f"{TITLE}{element.text or ''}"
        element.tail = f"{LINE}{element.tail or ''}"
    else:
        _mark_line(element)


def _is_heading(element: etree._Element) -> bool:
    """Return whether the element is the title of a section."""
    parent = element.getparent()
    return element.tag == "title" and parent is not None and parent.tag in TITLED


class _Section:
    """A section being read: its label, its own lines, and those of its floats."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.own = [""]
        self.floats: list[list[str]] = []

    def text(self) -> str:
        return "\n".join(
            clean for lines in (self.own, *self.floats) for line in lines if (clean := _collapse_spaces(line))
        )


def _split_by_section(marked: str) -> Sections:
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
            # The outermost title is `Abstract`.
            title = _collapse_spaces(text) if section is not outermost else ""
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


def _collapse_spaces(line: str) -> str:
    line = line.strip(" ")
    return _RUNS.sub(" ", line) if "  " in line else line


def check_pmcid(meta: etree._Element, expected: int, where: str) -> None:
    """Check that the article's PMCID, if stated, is the one under which it is filed."""
    for element in meta.iterchildren("article-id"):
        if element.get("pub-id-type") in ("pmc", "pmcid"):
            number = (element.text or "").strip().removeprefix("PMC")
            if number != str(expected):
                raise PubmillError(f"{where}: is filed as PMC{expected}, but its XML says PMC{number[:40]}")


def pmid(meta: etree._Element) -> str:
    """Return the PMID that an article states, as PubMed writes it; "" if there is none."""
    for element in meta.iterchildren("article-id"):
        if element.get("pub-id-type") == "pmid":
            return plain_pmid(element.text or "")
    return ""


def _heading(element: etree._Element) -> str:
    """Return the text of a title without footnotes and the markers of footnotes and references."""
    if len(element):
        _clear_markers(element)
        for part in element.iter(*_FORMULA_MARKS):
            _FORMULA_MARKS[part.tag](part)
    return _collapse_spaces(_text(element))


def _clear_markers(title: etree._Element) -> None:
    for element in list(title.iter("xref", "fn", "break", *NEVER)):
        if element.tag == "break":
            _mark_space(element)
        elif element.tag == "fn":
            _detach_footnote(element)
        else:
            element.clear(keep_tail=True)  # type: ignore[call-arg]


def _text(element: etree._Element) -> str:
    """Return all text inside an element, at any depth, on one line."""
    text: str = etree.tostring(element, method="text", encoding="unicode", with_tail=False)
    return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")


def _title(meta: etree._Element) -> str:
    group = meta.find("title-group")
    parts = () if group is None else group.iterchildren("article-title", "subtitle")
    return " ".join(text for part in parts if (text := _heading(part)))


def _abstracts(meta: etree._Element) -> list[etree._Element]:
    abstracts = list(meta.iterchildren("abstract"))
    plain = [abstract for abstract in abstracts if not abstract.get("abstract-type")]
    return plain or [a for a in abstracts if a.get("abstract-type") in PROSE_ABSTRACTS][:1]


def languages(root: etree._Element) -> tuple[str, ...]:
    """Return the three-letter language code of an article; English if none is stated. JATS declares
    `xml:lang NMTOKEN 'en'` for `article` (`article-atts` in JATS-journalpublishing1.dtd): a default of the
    DTD, which is never loaded here."""
    code = root.get(f"{_XML}lang", "en").lower().partition("-")[0]
    return (LANGUAGES.get(code, code),)


def types(root: etree._Element) -> tuple[str, ...]:
    """Return the type of an article, such as `research-article`."""
    return (kind,) if (kind := root.get("article-type", "")) else ()


def _year(meta: etree._Element) -> str:
    """Return the earliest year of publication, in print or online."""
    years = [
        text
        for date in meta.iterchildren("pub-date")
        if not {date.get("pub-type"), date.get("date-type")} & set(OTHER_DATES)
        if _YEAR.fullmatch(text := date.findtext("year", "").strip())
    ]
    return min(years, default="")


def _licence(meta: etree._Element) -> str:
    """Return the first Creative Commons licence in a link or text of the permissions."""
    for licence in meta.iterfind("permissions/license"):
        for element in licence.iter():
            named = [*map(str, element.values()), element.text or "", element.tail or ""]
            if code := next((code for text in named if (code := licence_at(text))), ""):
                return code
    return ""
