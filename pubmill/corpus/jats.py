"""Text of PMC articles in JATS XML (and its predecessor, the NLM DTD).

These parts become text:

- The title: `article-title` and `subtitle`, without footnotes and their markers (`_is_marker`).
- The abstract: all those without an `abstract-type`; if there are none, the first whose type is not one of
  `NO_ABSTRACT`: graphical abstracts, teasers, tables of contents, highlights, editors' and lay summaries,
  and others that are no abstracts. Translations (`trans-abstract`) are left out.
- The body by section; the label contains nested titles, `Methods > Statistics`. Paragraphs, list items'
  paragraphs, terms and captions are lines. Figures, tables and boxes float in print, often in the middle of
  a sentence: their captions and paragraphs follow the paragraphs of their section. Those in a
  `floats-group` (`floats-wrap` in the NLM DTD) come last. A footnote inside a sentence becomes the next line.
- A space separates words wherever an element other than an inline tag (`INLINE`) begins or ends, kept or
  left out. The parts of a species' name are words, too.

All text inside paragraphs is kept: inline tags, sub- and superscripts, Greek, and the markers of citations
and other cross-references ("as shown before [12]"). Formulas keep the characters of MathML, and what its
`mfenced` and `ms` state in attributes, but not their TeX; their words are those of NCBI's preview stylesheet
(jats-html.xsl of ncbi/JATSPreviewStylesheets).

These parts never become text: `back` (references, acknowledgements, appendices), reference lists, labels (the
numbers of sections, figures, list items), TeX, descriptions of graphics, permissions. `LEAVABLE` lists what a
source's spec can leave out in addition.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from lxml import etree

from pubmill.corpus.mathml import MATHML, remove_layout, tidy_formula, write_fences, write_quotes
from pubmill.corpus.notices import flags_of, plain_pmid, related_articles
from pubmill.corpus.own_texts import LANGUAGES
from pubmill.corpus.shards import Document, Sections
from pubmill.corpus.xml_parser import parse
from pubmill.errors import PubmillError

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

_INSIDE_WORDS = (
    "alt-text", "label", "long-desc", "object-id", "tex-math", f"{MATHML}annotation",
    f"{MATHML}annotation-xml",
)  # fmt: skip
NEVER = ("permissions", "ref-list", *_INSIDE_WORDS)
# Species' names in TaxPub, the extension of JATS for taxonomy; PMC turns its elements into `named-content`.
_TAXPUB = "{http://www.plazi.org/taxpub}"
TAXA = (*(f"{_TAXPUB}taxon-{name}" for name in ("authority", "name", "name-part", "status")), "named-content")
_STYLES = ("italic", "bold", "roman", "sans-serif", "sc", "styled-content", "underline", "ext-link", *TAXA)
INLINE = (
    "xref", "sup", "sub", *_STYLES, "abbrev", "abbreviation", "alternatives", "chem-struct", "email",
    "fixed-case", "glyph-data", "glyph-ref", "hr", "index-term", "index-term-range-end",
    "inline-formula", "inline-graphic", "inline-media", "inline-supplementary-material", "milestone-end",
    "milestone-start", "monospace", "overline", "overline-end", "overline-start", "private-char", "rb",
    "related-article", "related-object", "rt", "ruby", "strike", "target", "textual-form", "underline-end",
    "underline-start", "uri", "x", f"{MATHML}*",
)  # fmt: skip
"""Tags that may stand inside a word; all others separate words."""
# The parts of tables between the table and its cells, which are lines; there are too many to visit each.
_ROWS = ("col", "colgroup", "tbody", "tfoot", "thead", "tr")
LINES = (
    "p", "subtitle", "term", "attrib", "verse-line", "preformat", "code", "speaker", "kwd", *CELLS, *TABLES,
    "address", "answer", "answer-set", "array", "block-alternatives", "caption", "chem-struct-wrap",
    "chem-struct-wrapper", "def", "def-list", "disp-quote", "explanation", "fn", "fn-group", "gloss-group",
    "glossary", "kwd-group", "list", "list-item", "question", "question-wrap", "question-wrap-group",
    "sig-block", "speech", "statement", "table-wrap-foot", "verse-group",
)  # fmt: skip
SPACED = ("break", "disp-formula", "disp-formula-group", "graphic", "media")
FLOATS = ("boxed-text", "fig", "fig-group", "supplementary-material", "table-wrap", "table-wrap-group")
# What a `textual-form` beside it repeats in other characters.
_SPELT_OUT = (f"{MATHML}math", *TABLES, "array", "chem-struct", "code", "preformat")
# Lines of text that may contain a footnote, and other elements that enclose footnotes.
SENTENCES = ("p", "subtitle", "term", "attrib", "verse-line", "speaker", "title", *CELLS)
ENCLOSURES = ("fn-group", "table-wrap-foot", *FLOATS)
BLOCKS = frozenset((*LINES, *FLOATS, "sec", "title"))
AFTER_BODY = ("floats-group", "floats-wrap")
TITLED = ("sec", "body", "abstract", *AFTER_BODY)
# `ref-type` of cross-references to notes.
_NOTES = ("aff", "author-notes", "corresp", "fn", "table-fn")
_PICTURE = re.compile("graphic|visual|pictur|image|video|audio")
NO_ABSTRACT = re.compile(
    f"{_PICTURE.pattern}|^(web)?toc|contents|teaser|blurb|tagline|key|highlight|bullet|impact|significance|"
    "editor|^lay|plainlang|nontech|^public(?!ation)|patient|digest|^web(?!abstract)|^(learning)?objectives|"
    "stereochem|^rss|^atom|tweet|twitter|^trans(?!cript)"
)
"""Types of abstracts that are no abstracts, in small letters without anything else."""
_CONDENSED = ("executivesummary", "precis", "short", "summary")
# Punctuation that belongs to the word after it, and to the word before it.
_OPENING = "([{<\u201c\u2018\u00ab\"'/-\u2010\u2011\u2013\u2014\u00a0"
_CLOSING = ",.;:!?%)]}>\u201d\u2019\u00bb\"'/-\u2010\u2011\u2013\u2014\u00a0"
# Dates of a manuscript's path into PMC, which are not dates of publication.
OTHER_DATES = ("pmc-release", "nihms-submitted", "received", "accepted", "preprint", "epreprint")
# Marks that structure the text: a Unicode noncharacter, which no text may contain, and a letter for the kind.
MARK = "\ufdd0"
LINE, SECTION, TITLE, FLOAT, END = (MARK + letter for letter in "lstfe")

_XML = "{http://www.w3.org/XML/1998/namespace}"
_RUNS = re.compile("  +")
_NO_LETTER = re.compile("[^a-z]")
_PROSE_WORDS = 100  # the pictures among the abstracts of docs/parsers.md have fewer in their captions
_TAXON = re.compile("taxon|genus|species|infraspecific|scientific", re.I)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_LICENCE = re.compile(
    r"creativecommons\.org/(?:licen[sc]es/(by(?:-nc)?(?:-sa|-nd)?)\b(?!-)|(publicdomain/zero))", re.I
)


class JatsReader:
    """Reader of articles without the elements in `leave_out` (`LEAVABLE`). `left_out` counts them by tag, and
    abstracts that are no text by type; `typed` counts abstracts that are text in spite of a type."""

    def __init__(self, leave_out: Collection[str]) -> None:
        self.left_out, self.typed = Counter[str](), Counter[str]()
        self._sub_articles = "sub-articles" not in leave_out
        self._chosen = {tag for name in leave_out for tag in LEAVABLE.get(name, ())}
        self._prepare = {**_PREPARATIONS, **dict.fromkeys(self._chosen, self._leave_out)}

    def __call__(self, data: bytes, facts: Document, where: str) -> Document:
        """Return the article `facts` of an archive with its title and text. Raises `PubmillError` (with
        `where`) for malformed XML, declared or undefined entities, a root other than `article`, an encoding
        other than UTF-8, and an unexpected PMCID."""
        root = parse(data, where)
        meta = root.find("front/article-meta")
        if meta is None:
            raise PubmillError(f"{where}: <article> without <front> and <article-meta>")
        pmid = article_pmid(meta, facts, where)
        corrections = related_articles(meta)
        years = [  # in print and online
            text
            for date in meta.iterchildren("pub-date")
            if not {date.get("pub-type"), date.get("date-type")} & set(OTHER_DATES)
            if _YEAR.fullmatch(text := date.findtext("year", "").strip())
        ]
        return facts._replace(
            pmid=facts.pmid or pmid,
            published=min(years, default=""),
            languages=languages(root),
            types=types(root),
            licence=facts.licence or _licence(meta),
            title=_title(meta),
            sections=tuple(part for abstract in self._abstracts(meta) for part in self._sections(abstract)),
            body=tuple(part for place in self._bodies(root) for part in self._sections(place)),
            flags=tuple(dict.fromkeys((*facts.flags, *flags_of(types(root), corrections)))),
            corrections=corrections,
        )

    def _bodies(self, root: etree._Element) -> Iterator[etree._Element]:
        yield from root.iterchildren("body")
        yield from root.iterchildren(*AFTER_BODY)
        for child in root.iterchildren("sub-article", "response"):
            for part in child.iter("sub-article", "response"):
                if self._sub_articles:
                    yield from part.iterchildren("body", *AFTER_BODY)
                elif part.find("body") is not None:
                    self.left_out["sub-article"] += 1

    def _abstracts(self, meta: etree._Element) -> list[etree._Element]:
        """Return the abstracts that are text, and count the others by type."""
        abstracts = list(meta.iterchildren("abstract"))
        plain = [abstract for abstract in abstracts if not abstract.get("abstract-type")]
        if len(plain) < len(abstracts):
            prose = [one for one in abstracts if _is_prose(one, alone=len(abstracts) == 1)]
            plain = plain or sorted(prose, key=lambda one: _type_of(one) in _CONDENSED)[:1]
            for abstract in abstracts:
                if kind := abstract.get("abstract-type"):
                    counts = self.typed if abstract in plain else self.left_out
                    counts[f'abstract abstract-type="{kind}"'] += 1
        return plain

    def _sections(self, whole: etree._Element) -> Sections:
        """Return the text of `whole` by section, in order; a nested section follows its parent's own text."""
        if "fn" not in self._chosen:
            for note in reversed(list(whole.iter("fn"))):
                # out of the sentence that contains it, to the line after it
                line = next(note.iterancestors(*SENTENCES, *ENCLOSURES), None)
                if line is not None and line.tag not in ENCLOSURES and not _is_heading(line):
                    _detach_footnote(note)
                    line.addnext(note)
        return _split_by_section(_marked_text(whole, self._prepare, (*_INSIDE_WORDS, *self._chosen)))

    def _leave_out(self, element: etree._Element) -> None:
        """Count an element that will be removed, and separate the text after it; after a footnote, a word."""
        self.left_out[etree.QName(element).localname] += 1
        tail = element.tail or ""
        if element.tag != "fn" or tail[:1].isalnum():
            element.tail = f" {tail}"


def _type_of(abstract: etree._Element) -> str:
    return _NO_LETTER.sub("", abstract.get("abstract-type", "").lower())


def _is_prose(abstract: etree._Element, *, alone: bool) -> bool:
    """Return whether an abstract with a type is one. The only abstract of an article is no picture, whatever
    its type says, if it has sections or the length of an abstract."""
    kind = _type_of(abstract)
    if alone and _PICTURE.search(kind):
        return abstract.find("sec") is not None or len(_text(abstract).split()) >= _PROSE_WORDS
    return not NO_ABSTRACT.search(kind)


def _marked_text(
    whole: etree._Element, prepare: Mapping[str, Callable[[etree._Element], None]], dropped: Collection[str]
) -> str:
    """Return the text of `whole` without elements called as in `dropped`, with marks of its structure;
    `prepare` has what is done to other elements before inline tags are taken away."""
    for element in list(whole.iter(*prepare)):
        prepare[element.tag](element)
    etree.strip_elements(whole, *dropped, with_tail=False)
    etree.strip_tags(whole, *INLINE, *_ROWS)
    for element in list(whole.iterdescendants()):
        _MARKS.get(element.tag, _mark_words)(element)
    return _text(whole)


def _empty(element: etree._Element) -> None:
    element.clear(keep_tail=True)  # type: ignore[call-arg]


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


def _mark_line(element: etree._Element) -> None:
    # Before the element: its own text may be long, and is copied if it is changed.
    if (previous := element.getprevious()) is not None:
        previous.tail = f"{previous.tail or ''}{LINE}"
    elif (parent := element.getparent()) is not None:
        parent.text = f"{parent.text or ''}{LINE}"
    tail = element.tail or ""
    following = element.getnext()
    if (tail and not tail.isspace()) or (following is not None and following.tag not in BLOCKS):
        element.tail = f"{LINE}{tail}"


def _mark_space(element: etree._Element) -> None:
    element.text = f" {element.text or ''}"
    element.tail = f" {element.tail or ''}"


def _mark_words(element: etree._Element) -> None:
    """Separate an element from what is beside it, but not from its punctuation."""
    previous, parent = element.getprevious(), element.getparent()
    before = (parent.text if previous is None else previous.tail) if parent is not None else None
    if (before and before[-1] not in _OPENING) or (not before and previous is not None):
        element.text = f" {element.text or ''}"
    tail = element.tail
    if (tail and tail[0] not in _CLOSING) or (not tail and element.getnext() is not None):
        element.tail = f" {tail or ''}"


def _separate_taxon(name: etree._Element) -> None:
    """Separate a species' name, or a part of one, from an element beside it if there is no text between."""
    kinds = [one.get("content-type", "") for one in (name, name.getparent()) if one is not None]
    if name.tag == "named-content" and not any(map(_TAXON.search, kinds)):
        return
    if _touches(name, after=True):
        name.tail = f" {name.tail or ''}"
    if _touches(name, after=False):
        name.text = f" {name.text or ''}"


def _touches(name: etree._Element, *, after: bool) -> bool:
    """Return whether an inline tag for words follows (or precedes) without text between."""
    element: etree._Element | None = name
    while element is not None:
        sibling, parent = element.getnext() if after else element.getprevious(), element.getparent()
        before = sibling.tail if sibling is not None else parent.text if parent is not None else None
        if element.tail if after else before:
            return False
        if sibling is not None and sibling.tag not in _INSIDE_WORDS:
            return sibling.tag in _STYLES
        styled = parent if parent is not None and parent.tag in _STYLES else None
        element = styled if sibling is None else sibling
    return False


def _spell_once(form: etree._Element) -> None:
    """Empty a `textual-form` if the same stands beside it in other characters."""
    before = form.itersiblings(*_SPELT_OUT, "textual-form", preceding=True)
    if next(before, None) is not None or next(form.itersiblings(*_SPELT_OUT), None) is not None:
        _empty(form)


def _mark_nested(mark: str, element: etree._Element) -> None:
    element.text = f"{mark}{element.text or ''}"
    element.tail = f"{END} {element.tail or ''}"


def _prepare_title(element: etree._Element) -> None:
    if len(element) and _is_heading(element):
        _clear_markers(element)


def _mark_title(element: etree._Element) -> None:
    """Mark the title of a section as its label, and that of a caption or list as a line."""
    if _is_heading(element):
        element.text = f"{TITLE}{element.text or ''}"
        element.tail = f"{LINE}{element.tail or ''}"
    else:
        _mark_line(element)


def _is_heading(element: etree._Element) -> bool:
    parent = element.getparent()
    return element.tag == "title" and parent is not None and parent.tag in TITLED


_PREPARATIONS: dict[str, Callable[[etree._Element], None]] = {
    **dict.fromkeys(TAXA, _separate_taxon),
    f"{MATHML}math": tidy_formula,
    f"{MATHML}mfenced": write_fences,
    f"{MATHML}ms": write_quotes,
    **dict.fromkeys((f"{MATHML}{name}" for name in ("mspace", "mtd", "mtr", "mlabeledtr")), _mark_space),
    "alternatives": remove_layout,
    "textual-form": _spell_once,
    **dict.fromkeys(("permissions", "ref-list"), _empty),
    "title": _prepare_title,
}
_MARKS: dict[str, Callable[[etree._Element], None]] = {
    **dict.fromkeys(LINES, _mark_line),
    **dict.fromkeys(SPACED, _mark_space),
    **dict.fromkeys(FLOATS, partial(_mark_nested, FLOAT)),
    "sec": partial(_mark_nested, SECTION),
    "title": _mark_title,
}


@dataclass
class _Section:
    """A section being read: its label, its own lines, and those of its floats."""

    label: str
    own: list[str]
    floats: list[list[str]] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join(
            clean for lines in (self.own, *self.floats) for line in lines if (clean := _collapse_spaces(line))
        )


def _split_by_section(marked: str) -> Sections:
    outermost = section = _Section("", [""])
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
                section = _Section(section.label, lines)
                sections.append(section)
            else:
                section.floats.append(lines)
    return tuple((section.label, text) for section in sections if (text := section.text()))


def _collapse_spaces(line: str) -> str:
    line = line.strip(" ")
    return _RUNS.sub(" ", line) if "  " in line else line


def article_pmid(meta: etree._Element, facts: Document, where: str) -> str:
    """Return the PMID that an article states, as PubMed writes it; "" if there is none. Check that its PMCID,
    if stated, is the one under which it is filed."""
    expected, pmids = facts.id.removeprefix("pmc:"), list[str]()
    for element in meta.iterchildren("article-id"):
        kind, number = element.get("pub-id-type"), (element.text or "").strip()
        if kind in ("pmc", "pmcid") and (number := number.removeprefix("PMC")) != expected:
            raise PubmillError(f"{where}: is filed as PMC{expected}, but its XML says PMC{number[:40]}")
        if kind == "pmid":
            pmids.append(plain_pmid(number))
    return pmids[0] if pmids else ""


def _clear_markers(title: etree._Element) -> None:
    """Remove the footnotes of a title and the markers of footnotes."""
    for element in list(title.iter("xref", "fn")):
        if element.tag == "fn":
            _detach_footnote(element)
        elif _is_marker(element):
            _empty(element)
            raised = element.getparent()
            if raised is not None and raised.tag == "sup" and not any(map(str.isalnum, _text(raised))):
                _empty(raised)


def _is_marker(reference: etree._Element) -> bool:
    """Return whether a cross-reference of a title marks a footnote. One that does not say what it refers to
    does so if it is a sign, or a number or letter in superscript."""
    kind = reference.get("ref-type", "other")
    if kind != "other":
        return kind in _NOTES
    parent, text = reference.getparent(), _text(reference).strip()
    raised = reference.find("sup") is not None or (parent is not None and parent.tag == "sup")
    return not any(map(str.isalnum, text)) or (raised and (text.isdecimal() or len(text) == 1))


def _text(element: etree._Element) -> str:
    """Return all text inside an element, at any depth, on one line."""
    text: str = etree.tostring(element, method="text", encoding="unicode", with_tail=False)
    return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")


def _title(meta: etree._Element) -> str:
    """Return the title and subtitles on one line, without footnotes and their markers."""
    group, texts = meta.find("title-group"), list[str]()
    for part in () if group is None else group.iterchildren("article-title", "subtitle"):
        if not len(part):
            texts.append(_collapse_spaces(_text(part)))
        else:
            _clear_markers(part)
            marked = _marked_text(part, _PREPARATIONS, _INSIDE_WORDS)
            texts += [text.replace("\n", " ") for _, text in _split_by_section(marked)]
    return " ".join(filter(None, texts))


def languages(root: etree._Element) -> tuple[str, ...]:
    """Return the three-letter language code of an article; English if none is stated. JATS declares
    `xml:lang NMTOKEN 'en'` for `article` (`article-atts` in JATS-journalpublishing1.dtd): a default of the
    DTD, which is never loaded here."""
    code = root.get(f"{_XML}lang", "en").lower().partition("-")[0]
    return (LANGUAGES.get(code, code),)


def types(root: etree._Element) -> tuple[str, ...]:
    """Return the type of an article, such as `research-article`."""
    return (kind,) if (kind := root.get("article-type", "")) else ()


def _licence(meta: etree._Element) -> str:
    """Return the code (`CC BY-NC`) of the first Creative Commons licence to which the permissions link."""
    for licence in meta.iterfind("permissions/license"):
        for element in licence.iter():
            for text in (*map(str, element.values()), element.text or "", element.tail or ""):
                if match := _LICENCE.search(text):
                    return f"CC {match[1].upper()}" if match[1] else "CC0"
    return ""
