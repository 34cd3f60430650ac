"""Readers of citations and articles with the package `pubmed_parser`, for corpora that were made with it.

lewis2020 (section 3) extracted its text from PubMed and PMC with that package. docs/parsers.md lists what it
loses; `pubmill.corpus.medline` and `pubmill.corpus.jats` keep all of it. The package opens files itself, but
only after pubmill's own reader has refused those that declare entities.
"""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import pubmed_parser
from lxml import etree

from pubmill.corpus.jats import article_pmid, languages, types
from pubmill.corpus.medline import read_medline
from pubmill.corpus.notices import flags_of, related_articles
from pubmill.corpus.shards import BOOK, UNREADABLE, Document, single_spaced
from pubmill.corpus.xml_parser import parse
from pubmill.errors import PubmillError
from pubmill.storage.archives import GZIP_FAULTS

# Errors that the package raises on unexpected text.
FAILURES = (AttributeError, IndexError, KeyError, TypeError, ValueError)
DAMAGED: tuple[type[Exception], ...] = (etree.XMLSyntaxError, *FAILURES, *GZIP_FAULTS)


def read_medline_with_pubmed_parser(path: Path) -> Iterator[Document]:
    """Yield the citations of a PubMed file, in its order. The package does not distinguish several versions
    of a citation in one file, and knows neither corrections nor deletions nor books: versions, dates of
    revision and all these come from pubmill's own reader."""
    theirs = pubmed_parser.parse_medline_xml(str(path))
    for ours in read_medline(path):
        if ours.deleted or BOOK in ours.flags:
            yield ours
        else:
            try:
                other = next(theirs, None)
            except DAMAGED as error:
                raise PubmillError(f"{path}: pubmed_parser fails at {ours.id}: {error!r}") from None
            if other is None or f"pmid:{other['pmid']}" != ours.id:
                given = other["pmid"] if other else "nothing"
                raise PubmillError(f"{path}: pubmed_parser finds {given} where {ours.id} stands")
            text = _join_lines(other["abstract"].split("\n"))
            sections = (("", text),) if text else ()
            yield ours._replace(title=single_spaced(other["title"]), sections=sections)


class ArticleReader:
    """Reader of PMC articles with `parse_pubmed_xml` and `parse_pubmed_paragraph(all_paragraph=True)`."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="pubmill-")

    def __call__(self, data: bytes, facts: Document, where: str) -> Document:
        """Read one article; if the package cannot, the document has the flag `unreadable` and no text."""
        root = parse(data, where)
        meta = root.find("front/article-meta")
        corrections = () if meta is None else related_articles(meta)
        if meta is not None:
            pmid = article_pmid(meta, facts, where)
            facts = facts._replace(pmid=facts.pmid or pmid)
        path = Path(self.folder.name, "article.xml")
        path.write_bytes(data)
        try:
            article = pubmed_parser.parse_pubmed_xml(str(path))
            paragraphs = pubmed_parser.parse_pubmed_paragraph(str(path), all_paragraph=True)
        except FAILURES:
            return facts._replace(flags=(*facts.flags, UNREADABLE))
        abstract = single_spaced(article["abstract"])
        return facts._replace(
            flags=tuple(dict.fromkeys((*facts.flags, *flags_of(types(root), corrections)))),
            published=str(article["publication_year"] or ""),
            languages=languages(root),
            types=types(root),
            corrections=corrections,
            title=single_spaced(article["full_title"]),
            sections=(("", abstract),) if abstract else (),
            # Neighbouring paragraphs of one title are one section; empty ones are left out, as in the paper.
            body=tuple(
                (title, text)
                for title, group in groupby(paragraphs, key=lambda one: single_spaced(one["section"]))
                if (text := _join_lines(one["text"] for one in group))
            ),
        )


def _join_lines(texts: Iterable[str]) -> str:
    return "\n".join(line for text in texts if (line := single_spaced(text)))
