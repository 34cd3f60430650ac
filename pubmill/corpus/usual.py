"""Citations in the form in which NLM writes nearly all of them, read from their bytes, without a tree.

Most of the work of reading PubMed would be a tree of authors, terms and references, of which nothing is
taken. So libxml2 only checks a block of citations (`Check`), and each is matched against one pattern: the
elements of NLM's DTD in their order, up to `</Article>`, with the attributes and the plain values they have.

That is exact, because in well-formed XML of nothing but elements and text the pattern leaves no room. It
spells out every tag on its way, but for those inside of an element that is left unread up to the first end
tag of its name; were that the end of another one, nested in it, then something else would follow than the
pattern asks for. What doesn't match is left to a tree, which tells what is wrong with it, if anything.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from pubmill.corpus.dates import day, year
from pubmill.corpus.shards import Document, Sections, single_spaced

ARTICLE_END = b"</PubmedArticle>"

TextOf = Callable[[bytes], str]
"""The text of well-formed content with references to characters, or with elements that have attributes."""

_B = rb"[ \t\r\n]*+"
_ATTRIBUTES = rb'(?: [A-Za-z]++="[^"<>&]*+")*+'
_VALUE = rb"[^<>&]*+"
_NUMBER = rb"([0-9]++)"


def _inside(name: bytes) -> bytes:
    """All up to the first end tag of this name."""
    return rb"[^<]*+(?:<(?!/%s>)[^<]*+)*+" % name


def _unread(*names: bytes, inside: Callable[[bytes], bytes] = _inside) -> bytes:
    """Elements of which nothing is read, each there once, often or not at all."""
    return b"".join(rb"(?:<%s%s>%s</%s>%s)*+" % (name, _ATTRIBUTES, inside(name), name, _B) for name in names)


def _unread_values(*names: bytes) -> bytes:
    return _unread(*names, inside=lambda _: _VALUE)


def _read(name: bytes, value: bytes) -> bytes:
    return rb"<%s>%s</%s>" % (name, value, name)


def _listed(name: bytes, attributes: bytes = b"") -> bytes:
    """One or more elements of plain values."""
    return rb"((?:<%s%s>%s</%s>%s)++)" % (name, attributes, _VALUE, name, _B)


_DAY = _B.join(_read(part, _NUMBER) for part in (b"Year", b"Month", b"Day"))
_REVISED = _read(b"DateRevised", _B + _DAY + _B)
_CITATION = re.compile(
    _B.join(
        (
            b"",
            b"<PubmedArticle>",
            rb"<MedlineCitation%s>" % _ATTRIBUTES,
            rb'<PMID Version="%s">%s</PMID>' % (_NUMBER, _NUMBER),
            _unread(b"DateCreated", b"DateCompleted"),
            rb"(?:%s%s)?+<Article%s>" % (_REVISED, _B, _ATTRIBUTES),
            b"<Journal>",
            _unread_values(b"ISSN") + rb"<JournalIssue%s>" % _ATTRIBUTES,
            _unread_values(b"Volume", b"Issue") + b"<PubDate>",
            rb"<(?:Year|MedlineDate)>(%s)</%s</Journal>" % (_VALUE, _inside(b"Journal")),
            _read(b"ArticleTitle", rb"(%s)" % _inside(b"ArticleTitle")),
            _unread(b"Pagination", b"ELocationID"),
            rb"(?:<Abstract>%s(%s)</Abstract>)?+" % (_B, _inside(b"Abstract")),
            _unread(b"Affiliation", b"AuthorList") + _listed(b"Language"),
            _unread(b"DataBankList", b"GrantList") + b"<PublicationTypeList>",
            _listed(b"PublicationType", rb'(?: UI="[^"<>&]*+")?+') + b"</PublicationTypeList>",
            _unread(b"VernacularTitle", b"ArticleDate") + b"</Article>",
        )
    )
)
_PART = re.compile(
    rb'<AbstractText(?: Label="([^"<>&\t\r\n]*+)")?+(?: NlmCategory="[A-Z]*+")?+>(%s)</AbstractText>%s'
    rb"|<CopyrightInformation>(%s)</CopyrightInformation>%s"
    % (_inside(b"AbstractText"), _B, _inside(b"CopyrightInformation"), _B)
)
_MARKUP = re.compile(rb"</?[a-z]++/?>")
_LISTED = re.compile(rb">([^<]*+)</")


class Check:
    """A parser's target that makes nothing: what is left is the parser's own check of what is well-formed.

    The parser gives whether there was neither comment nor processing instruction.
    """

    other = False

    def comment(self, text: str) -> None:
        self.other = True

    def pi(self, target: str, data: str | None = None) -> None:
        self.other = True

    def close(self) -> bool:
        plain, self.other = not self.other, False
        return plain


def read_usual(article: bytes, text_of: TextOf) -> Document | None:
    """The citation of a `PubmedArticle`, without its end tag; None if it isn't in the usual form.

    It must be well-formed, without comments, processing instructions and CDATA sections.
    """
    found = _CITATION.match(article)
    if found is None or not _only_one(article, found.end()):
        return None
    version, pmid, *revised, published, title, abstract, languages, types = found.groups()
    parts = _abstract(abstract or b"", text_of)
    if parts is None or not (printed := year(published.decode())):
        return None
    if not any(revised) and b"<DateRevised" in article:
        return None
    number = str(int(pmid))
    return Document(
        id=f"pmid:{number}",
        version=int(version),
        pmid=number,
        date=day(*(part and part.decode() for part in revised)),
        published=printed,
        languages=_codes(languages),
        types=_values(types),
        licence=parts[0],
        title=_text(title, text_of),
        sections=parts[1],
    )


def _only_one(article: bytes, at: int) -> bool:
    """Whether no second citation, article or PMID of it follows, as it does where two have run into one."""
    end = article.find(b"</MedlineCitation>", at)
    identifiers = article.count(b"<PMID", at, end)
    return (
        article.find(b"<Article", at, end) < 0
        and article.find(b"<MedlineCitation", at) < 0
        and (not identifiers or identifiers == article.count(b"<CommentsCorrections ", at, end))
    )


def _text(content: bytes, text_of: TextOf) -> str:
    bare = _MARKUP.sub(b"", content) if b"<" in content else content
    return text_of(content) if b"<" in bare or b"&" in bare else single_spaced(bare.decode())


def _abstract(content: bytes, text_of: TextOf) -> tuple[str, Sections] | None:
    """The copyright lines, and the labelled parts that hold text."""
    licences: list[str] = []
    sections: list[tuple[str, str]] = []
    at = 0
    while at < len(content):
        part = _PART.match(content, at)
        if part is None:
            return None
        label, abstract, licence = part.groups()
        if licence is not None:
            licences.append(_text(licence, text_of))
        elif text := _text(abstract, text_of):
            sections.append(((label or b"").decode().strip(), text))
        at = part.end()
    return " ".join(licences), tuple(sections)


@lru_cache(maxsize=1 << 12)
def _values(listed: bytes) -> tuple[str, ...]:
    return tuple(single_spaced(value.decode()) for value in _LISTED.findall(listed))


@lru_cache(maxsize=1 << 12)
def _codes(languages: bytes) -> tuple[str, ...]:
    return tuple(" ".join(_values(languages)).lower().split())
