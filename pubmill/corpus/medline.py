"""PubMed's XML files, as distributed by NLM: `pubmedYYnNNNNN.xml.gz`.

A file is split at its `</PubmedArticle>` bytes into blocks of about 128 kB, and each block is parsed
separately between the file's own root tags. This is faster than one incremental parse, needs constant memory,
and is exact: a block of well-formed content ends outside every comment, CDATA section and tag, so the blocks
are well-formed exactly if the whole file is, and contain the same elements. A block that is not well-formed
grows until it is, up to `CITATION_LIMIT`. Nearly all citations are then read without a tree
(`medline_bytes.py`). No block has a document type, so entities can be neither declared nor fetched; a
declaration in the file's head is refused before anything is parsed.

The reader takes the text of the original record, unchanged except for runs of spaces and line breaks:

- The abstract is `Abstract/AbstractText`. `OtherAbstract` (a translation, a plain-language summary, another
  organisation's abstract) is left out: it repeats the content, often not in English.
- A note such as `(ABSTRACT TRUNCATED AT 250 WORDS)` is kept, because NLM publishes it as part of the
  abstract.
- `CopyrightInformation` is the licence, never text. A title in brackets (translated) keeps the
  brackets; `VernacularTitle` is left out.
- A book (`PubmedBookArticle`) becomes a row without text and with the flag `book`; selections count it and
  leave it out.
- Unicode is kept as it is, without normalisation.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

from lxml import etree

from pubmill.corpus.medline_bytes import ARTICLE_END, Check, day, read_usual, year
from pubmill.corpus.notices import corrections_in, flags_of
from pubmill.corpus.shards import BOOK, PMID_DIGITS, VERSION_DIGITS, Document, Sections, single_spaced
from pubmill.corpus.xml_parser import DECLARES, fault, parser
from pubmill.errors import PubmillError
from pubmill.storage.archives import GZIP_FAULTS, open_content
from pubmill.storage.strict_parsing import whole_number

BLOCK = 1 << 17
HEAD_LIMIT = 1 << 16
# Far larger than any real citation (thousands of authors: a few MB) or list of deletions.
CITATION_LIMIT = 16_777_216
# Real files unpack to about ten times their size; a file beyond this ratio is an attack.
RATIO_LIMIT = 200
SMALL = 1 << 28  # bytes; the ratio of smaller files is not limited
MATHML = b' xmlns:mml="http://www.w3.org/1998/Math/MathML"'

# Child elements that NLM's DTD allows only once, among those that are read.
ONCE = {
    "PubmedArticle": {"MedlineCitation"},
    "PubmedBookArticle": {"BookDocument"},
    "BookDocument": {"PMID"},
    "MedlineCitation": {"PMID", "Article", "CommentsCorrectionsList"},
    "Article": {"Journal", "ArticleTitle", "Abstract", "PublicationTypeList"},
}

Form = Literal["usual", "tree"]

_NAME = re.compile(r"(?:pubmed|medline)(\d\d)n(\d{4,5})\.xml\.gz")
_ROOT = re.compile(rb"<(PubmedArticleSet|MedlineCitationSet)(\s[^<>]*)?>")
# The document types that NLM writes, with XML's white space, a subset of that of regular expressions.
_DOCUMENT_TYPE = (
    rb"""<!DOCTYPE\s+[A-Za-z]+(\s+(SYSTEM|PUBLIC\s+"[\w '()+,./:=?;!*#@$%-]*")\s+"[ -!#-;=?-~]*")?\s*>"""
)
_DOCTYPE = re.compile(_DOCUMENT_TYPE.replace(rb"\s", rb"[ \t\r\n]"))
_SUBSET = re.compile(rb"<!ENTITY|<!DOCTYPE[^>]*\[")
_CITED = re.compile(rb"<MedlineCitation\b[^>]*>\s*<PMID\b[^>]*>\s*(\d+)")


def file_order(path: Path) -> int:
    """Return the place of a PubMed file in the loading order: year (two digits) * 10,000 + number. NLM
    restarts the numbers with every year's baseline and requires that files be loaded in this order."""
    match = _NAME.fullmatch(path.name)
    if not match:
        raise PubmillError(
            f"{path}: a PubMed file is named like pubmed26n0001.xml.gz; its year and number decide "
            f"which version of a citation is the later one. Give the file its original name."
        )
    return int(match[1]) * 10_000 + int(match[2])


def read_medline(path: Path) -> Iterator[Document]:
    """Yield every citation of a PubMed file, and every deletion, in the file's order; a file whose name does
    not end with `.gz` is plain XML, as NCBI's efetch gives it.

    Raises `PubmillError` for a broken gzip, malformed XML (with line and last PMID), another root
    element, declared entities, and citations that lack elements required by NLM's DTD.
    """
    reader = _MedlineReader(path)
    try:
        with open_content(path) as stream:
            yield from reader.documents(stream)
    except GZIP_FAULTS as error:
        raise PubmillError(
            f"{path}: truncated or damaged gzip ({error}) after line {reader.line()}, "
            f"last PMID read {reader.last}. Delete the file and download it again."
        ) from None


class _MedlineReader:
    """Reader of one file, which tracks its position for messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done = 0  # bytes
        self.last = "none"
        self.parser = parser()
        self.checker = parser(Check())
        self.start = self.end = b""  # the root's tags

    def documents(self, stream: IO[bytes]) -> Iterator[Document]:
        self.start, kind, data = self._read_head(stream)
        self.end = b"</%s>" % kind
        cut = ARTICLE_END if kind == b"PubmedArticleSet" else b"</MedlineCitation>"
        while True:
            size = data.rfind(cut) + len(cut) if cut in data else 0
            if size and (form := self._reading_form(data[:size])):
                yield from self._read_block(data[:size], form)
                data = data[size:]
            elif len(data) > CITATION_LIMIT:
                if size:
                    self._parse_tree(data[:size])  # reports malformed content
                raise self._error(f"no {cut.decode()} within {CITATION_LIMIT >> 20} MiB")
            if self.done > SMALL and self.done > RATIO_LIMIT * self.path.stat().st_size:
                raise self._error(f"unpacks to more than {RATIO_LIMIT} times its size")
            block = stream.read(max(BLOCK, len(data)))
            if not block:
                self.end = b""
                yield from self._read_tree(data)
                return
            data += block

    def _read_head(self, stream: IO[bytes]) -> tuple[bytes, bytes, bytes]:
        """Check everything up to the root's start tag; return that tag, the root's name and the rest."""
        data = stream.read(HEAD_LIMIT)
        match = _ROOT.search(data)
        head = data[: match.end()] if match else data
        if _SUBSET.search(head):
            raise self._error(DECLARES.format("NLM's files"))
        if not match:
            raise self._error(
                "no <PubmedArticleSet> or <MedlineCitationSet>: not one of PubMed's citation files"
            )
        kind, attributes = match[1], match[2] or b""
        # An ordinary document type names NLM's DTD; it is removed, so the parser never fetches the DTD.
        plain = _DOCTYPE.sub(lambda doctype: b"\n" * doctype[0].count(b"\n"), head, count=1)
        if b"<!DOCTYPE" in plain:
            raise self._error("malformed XML: the document type is not as in NLM's files")
        self.end = b"</%s>" % kind
        root = self._parse_tree(plain)
        if root.tag != kind.decode():
            raise self._error(f"its root is <{root.tag}>, not one of PubMed's citation files")
        encoding = root.getroottree().docinfo.encoding or "UTF-8"
        if encoding.upper() != "UTF-8":
            raise self._error(f"is encoded as {encoding}; PubMed's files are UTF-8")
        self.done = len(head)
        # The prefix of formulas is fixed by the DTD, which is never loaded, so the root declares it here.
        prefix = b"" if b"xmlns:mml" in attributes else MATHML
        return b"<%s%s%s>" % (kind, attributes, prefix), kind, data[match.end() :]

    def _reading_form(self, content: bytes) -> Form | None:
        """Return how to read the content; None if it is not well-formed."""
        try:
            plain = bool(etree.fromstring(b"".join((self.start, content, self.end)), self.checker))
        except etree.XMLSyntaxError:
            return None
        if len(self.checker.error_log):
            return None  # misplaced colons in names raise no error without a tree, but are logged
        return "usual" if plain and b"<![CDATA[" not in content else "tree"

    def _read_block(self, content: bytes, form: Form) -> Iterator[Document]:
        *articles, rest = content.split(ARTICLE_END) if form == "usual" else [content]
        for number, article in enumerate(articles):
            if document := read_usual(article, self._content_text):
                self.last = document.pmid
                self.done += len(article) + len(ARTICLE_END)
                yield document
            elif self._reading_form(whole := article + ARTICLE_END):
                yield from self._read_tree(whole)
            else:  # an article inside another element
                rest = ARTICLE_END.join([*articles[number:], rest])
                break
        if rest:
            yield from self._read_tree(rest)

    def _content_text(self, content: bytes) -> str:
        return _text(etree.fromstring(b"".join((self.start, content, self.end)), self.parser))

    def _read_tree(self, content: bytes) -> Iterator[Document]:
        for child in self._parse_tree(content):
            if child.tag == "PubmedArticle":
                yield self._citation_document(self._children(child, "MedlineCitation")["MedlineCitation"])
            elif child.tag == "MedlineCitation":
                yield self._citation_document(child)
            elif child.tag == "DeleteCitation":
                for pmid in child.iterchildren("PMID"):
                    yield Document(id=self._document_id(pmid), version=self._version(pmid), deleted=True)
            elif child.tag == "PubmedBookArticle":
                pmid = self._children(self._children(child, "BookDocument")["BookDocument"], "PMID")["PMID"]
                identifier, version = self._document_id(pmid), self._version(pmid)
                yield Document(identifier, version, identifier.removeprefix("pmid:"), flags=(BOOK,))
            else:
                raise self._error(f"<{child.tag}> where a citation was expected")
        self.done += len(content)

    def _parse_tree(self, content: bytes) -> etree._Element:
        """Return the root of a tree of some content of the file, enclosed in the root's tags."""
        data = b"".join((self.start, content, self.end))
        try:
            return etree.fromstring(data, self.parser)
        except etree.XMLSyntaxError as error:
            line, column = error.position
            lines = data.split(b"\n")
            read = sum(len(text) + 1 for text in lines[: line - 1]) + column
            cited = _CITED.findall(data[:read])
            self.last = cited[-1].decode() if cited else self.last
            self.done += max(0, sum(len(text) + 1 for text in lines[: line - 1]) - len(self.start))
            raise self._error(f"malformed XML: {fault(error)}") from None

    def _citation_document(self, citation: etree._Element) -> Document:
        parts = self._children(citation, "PMID", "Article")
        pmid, article = parts["PMID"], parts["Article"]
        identifier, version = self._document_id(pmid), self._version(pmid)
        inside = self._children(article)
        revised = {part.tag: part.text for part in parts.get("DateRevised", ())}
        journal = inside.get("Journal")
        title, abstract = inside.get("ArticleTitle"), inside.get("Abstract")
        listed, corrected = inside.get("PublicationTypeList"), parts.get("CommentsCorrectionsList")
        types = () if listed is None else tuple(map(_text, listed))
        corrections = () if corrected is None else corrections_in(corrected)
        licence, sections = ("", ()) if abstract is None else _abstract(abstract)
        return Document(
            id=identifier,
            version=version,
            pmid=identifier.removeprefix("pmid:"),
            date=day(revised.get("Year"), revised.get("Month"), revised.get("Day")),
            published="" if journal is None else _year(journal),
            languages=tuple(" ".join(map(_text, article.iterchildren("Language"))).lower().split()),
            types=types,
            licence=licence,
            title="" if title is None else _text(title),
            sections=sections,
            flags=flags_of(types, corrections),
            corrections=corrections,
        )

    def _children(self, element: etree._Element, *required: str) -> dict[str, etree._Element]:
        """Return the first child of each name; one pass is faster than a search for each name."""
        parts: dict[str, etree._Element] = {}
        once = ONCE[str(element.tag)]
        for child in element:
            tag = child.tag
            if tag not in parts:
                parts[tag] = child
            elif tag in once:
                raise self._error(f"<{element.tag}> with <{tag}> more than once")
        for tag in required:
            if tag not in parts:
                raise self._error(f"<{element.tag}> without <{tag}>")
        return parts

    def _document_id(self, pmid: etree._Element) -> str:
        text = (pmid.text or "").strip()
        if (number := whole_number(text)) is None:
            raise self._error(f"<PMID> holds {text[:40]!r}, not a number of at most {PMID_DIGITS} digits")
        self.last = text
        return f"pmid:{number}"

    def _version(self, pmid: etree._Element) -> int:
        # Files from before 2010 have no versions; NLM defines a citation without one as version 1.
        text = pmid.get("Version", "1")
        if (number := whole_number(text)) is None or len(text) > VERSION_DIGITS:
            raise self._error(
                f"<PMID Version={text[:40]!r}>: not a number of at most {VERSION_DIGITS} digits"
            )
        return number

    def line(self) -> int:
        """Return how many lines were read completely; it is slow, so it is called only for messages."""
        lines, left = 0, self.done
        if not left:
            return 0  # the file may be empty
        with open_content(self.path) as stream:
            while left and (data := stream.read(min(left, BLOCK))):
                lines += data.count(b"\n")
                left -= len(data)
        return lines

    def _error(self, message: str) -> PubmillError:
        return PubmillError(f"{self.path}:{self.line() + 1}: {message}. Last PMID read: {self.last}.")


def _text(element: etree._Element) -> str:
    """All text inside, however deeply nested."""
    if len(element):
        return single_spaced(etree.tostring(element, method="text", encoding="unicode", with_tail=False))
    return single_spaced(element.text or "")


def _abstract(abstract: etree._Element) -> tuple[str, Sections]:
    """Return the copyright line, and the labelled parts of the abstract that contain text."""
    licences: list[str] = []
    sections: list[tuple[str, str]] = []
    for part in abstract:
        tag = part.tag
        if tag == "AbstractText":
            if text := _text(part):
                sections.append((part.get("Label", "").strip(), text))
        elif tag == "CopyrightInformation":
            licences.append(_text(part))
    return " ".join(licences), tuple(sections)


def _year(journal: etree._Element) -> str:
    """Return the first year in `PubDate`, which is a `Year` or free text."""
    texts = (str(text) for date in journal.iter("PubDate") for text in date.itertext())
    return next(filter(None, map(year, texts)), "")
