"""Fast reader of PubMed citations in NLM's usual form, from their bytes and without a tree.

Most of the work of reading PubMed would be building a tree of authors, terms and references, which are not
used. So libxml2 only checks a block of citations (`Check`), and each citation is matched against one pattern:
the elements of NLM's DTD in their order, up to `</MedlineCitation>`, with their attributes and plain values.

The result is exact: in well-formed XML that consists only of elements and text (no comment, processing
instruction or CDATA section) each `<` begins a tag, and the pattern allows no other tags. It spells out every
tag except those inside skipped elements; a skipped element may contain no tag of its own name, so the first
end tag of that name closes it. After the match, `MedlineCitation` and `PubmedArticle` must not occur again.
No attribute that the pattern allows declares a namespace, and no end tag contains white space. A citation
that does not match is parsed into a tree, which reports any errors.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from pubmill.corpus.notices import flags_of, listed_corrections
from pubmill.corpus.shards import PMID_DIGITS, VERSION_DIGITS, Document, Sections, single_spaced

ARTICLE_END = b"</PubmedArticle>"

TextOf = Callable[[bytes], str]
"""A function that returns the text of well-formed content with character references or attributes."""

_B = rb"[ \t\r\n]*+"
_ATTRIBUTES = rb'(?: (?!xmlns)[A-Za-z]++="[^"<>&]*+")*+'
_VALUE = rb"[^<>&]*+"
_PMID = rb"([0-9]{1,%d}+)" % PMID_DIGITS
_VERSION = rb"([0-9]{1,%d}+)" % VERSION_DIGITS
_NUMBER = rb"([0-9]++)"


def _content_pattern(name: bytes) -> bytes:
    """Return a pattern for everything up to the first start or end tag of this name."""
    return rb"[^<]*+(?:<(?!/?%s\b)[^<]*+)*+" % name


def _skipped_pattern(*names: bytes, inside: Callable[[bytes], bytes] = _content_pattern) -> bytes:
    """Return a pattern for elements that are skipped, each present any number of times."""
    return b"".join(rb"(?:<%s%s>%s</%s>%s)*+" % (name, _ATTRIBUTES, inside(name), name, _B) for name in names)


def _skipped_values_pattern(*names: bytes) -> bytes:
    return _skipped_pattern(*names, inside=lambda _: _VALUE)


def _element_pattern(name: bytes, value: bytes) -> bytes:
    return rb"<%s>%s</%s>" % (name, value, name)


def _repeated_pattern(name: bytes, attributes: bytes = b"") -> bytes:
    """Return a pattern for one or more elements with plain values."""
    return rb"((?:<%s%s>%s</%s>%s)++)" % (name, attributes, _VALUE, name, _B)


_DAY = _B.join(_element_pattern(part, _NUMBER) for part in (b"Year", b"Month", b"Day"))
_REVISED = _element_pattern(b"DateRevised", _B + _DAY + _B)
_BEFORE_CORRECTIONS = (b"MedlineJournalInfo", b"ChemicalList", b"SupplMeshList", b"CitationSubset")
_BEHIND = (
    b"GeneSymbolList", b"MeshHeadingList", b"NumberOfReferences", b"PersonalNameSubjectList", b"OtherID",
    b"OtherAbstract", b"KeywordList", b"CoiStatement", b"SpaceFlightMission", b"InvestigatorList",
    b"GeneralNote",
)  # fmt: skip
_PARTS = (
    b"",
    b"<PubmedArticle>",
    rb"<MedlineCitation%s>" % _ATTRIBUTES,
    rb'<PMID Version="%s">%s</PMID>' % (_VERSION, _PMID),
    _skipped_pattern(b"DateCreated", b"DateCompleted"),
    rb"(?:%s%s)?+<Article%s>" % (_REVISED, _B, _ATTRIBUTES),
    b"<Journal>",
    _skipped_values_pattern(b"ISSN") + rb"<JournalIssue%s>" % _ATTRIBUTES,
    _skipped_values_pattern(b"Volume", b"Issue") + b"<PubDate>",
    rb"<(?:Year|MedlineDate)>(%s)</%s</Journal>" % (_VALUE, _content_pattern(b"Journal")),
    _element_pattern(b"ArticleTitle", rb"(%s)" % _content_pattern(b"ArticleTitle")),
    _skipped_pattern(b"Pagination", b"ELocationID"),
    rb"(?:<Abstract>%s(%s)</Abstract>)?+" % (_B, _content_pattern(b"Abstract")),
    _skipped_pattern(b"Affiliation", b"AuthorList") + _repeated_pattern(b"Language"),
    _skipped_pattern(b"DataBankList", b"GrantList") + b"<PublicationTypeList>",
    _repeated_pattern(b"PublicationType", rb'(?: UI="[^"<>&]*+")?+') + b"</PublicationTypeList>",
    _skipped_pattern(b"VernacularTitle", b"ArticleDate") + b"</Article>",
    _skipped_pattern(*_BEFORE_CORRECTIONS)
    + rb"(?:<CommentsCorrectionsList>(%s)</CommentsCorrectionsList>%s)?+"
    % (_content_pattern(b"CommentsCorrectionsList"), _B),
    _skipped_pattern(*_BEHIND) + b"</MedlineCitation>",
)
_CITATION = re.compile(_B.join(_PARTS))
_TEXT_START = re.compile(
    rb'%s<AbstractText(?: Label="([^"<>&\t\r\n]*+)")?+(?: NlmCategory="[A-Z]*+")?+>' % _B
)
_COPYRIGHT = re.compile(
    _B + _element_pattern(b"CopyrightInformation", rb"(%s)" % _content_pattern(b"CopyrightInformation")) + _B
)
_ONLY_ONCE = (b"MedlineCitation", b"PubmedArticle")
_MARKUP = re.compile(rb"</?[a-z]++/?>")
_LISTED = re.compile(rb">([^<]*+)</")


class Check:
    """A parser target that builds nothing, so that the parser only checks that content is well-formed. The
    parser must keep comments and processing instructions; its result is whether the content has none."""

    other = False

    def comment(self, text: str) -> None:
        self.other = True

    def pi(self, target: str, data: str | None = None) -> None:
        self.other = True

    def close(self) -> bool:
        plain, self.other = not self.other, False
        return plain


def read_usual(article: bytes, text_of: TextOf) -> Document | None:
    """Return the citation of a `PubmedArticle` without its end tag; None if it is not in the usual form. The
    content must be well-formed, without comments, processing instructions and CDATA sections."""
    match = _CITATION.match(article)
    if match is None or any(article.find(name, match.end()) >= 0 for name in _ONLY_ONCE):
        return None
    version, pmid, *revised, published, title, abstract, languages, listed, corrected = match.groups()
    parts = _abstract(abstract or b"", text_of)
    corrections = listed_corrections(corrected or b"")
    if parts is None or corrections is None or not (printed := year(published.decode())):
        return None
    types = _listed_values(listed)
    number = str(int(pmid))
    return Document(
        id=f"pmid:{number}",
        version=int(version),
        pmid=number,
        date=day(*(part and part.decode() for part in revised)),
        published=printed,
        languages=_language_codes(languages),
        types=types,
        licence=parts[0],
        title=_text(title, text_of),
        sections=parts[1],
        flags=flags_of(types, corrections),
        corrections=corrections,
    )


def _text(content: bytes, text_of: TextOf) -> str:
    bare = _MARKUP.sub(b"", content) if b"<" in content else content
    return text_of(content) if b"<" in bare or b"&" in bare else single_spaced(bare.decode())


def _abstract(content: bytes, text_of: TextOf) -> tuple[str, Sections] | None:
    """Return the copyright line and the labelled parts with text; None if not in the usual form."""
    *parts, rest = content.split(b"</AbstractText>")
    sections: list[tuple[str, str]] = []
    for part in parts:
        start = _TEXT_START.match(part)
        if start is None or part.find(b"AbstractText", start.end()) >= 0:
            return None
        if text := _text(part[start.end() :], text_of):
            sections.append(((start[1] or b"").decode().strip(), text))
    copyrighted = _COPYRIGHT.fullmatch(rest)
    if copyrighted is None and rest.strip(b" \t\r\n"):
        return None
    return _text(copyrighted[1], text_of) if copyrighted else "", tuple(sections)


@lru_cache(maxsize=1 << 12)
def _listed_values(listed: bytes) -> tuple[str, ...]:
    return tuple(single_spaced(value.decode()) for value in _LISTED.findall(listed))


@lru_cache(maxsize=1 << 12)
def _language_codes(languages: bytes) -> tuple[str, ...]:
    return tuple(" ".join(_listed_values(languages)).lower().split())


_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


@lru_cache(maxsize=1 << 14)
def day(*numbers: str | None) -> str:
    """Return year, month and day as YYYY-MM-DD; a few real citations have only year and month."""
    parts: list[str] = []
    for text, digits in zip(numbers, (4, 2, 2), strict=True):
        number = (text or "").strip()
        if not number.isdecimal():
            break
        parts.append(number.zfill(digits))
    return "-".join(parts)


@lru_cache(maxsize=1 << 14)
def year(text: str) -> str:
    """Return the first year in a text such as `1998 Dec-1999 Jan`; "" if there is none."""
    match = _YEAR.search(text)
    return match[0] if match else ""
