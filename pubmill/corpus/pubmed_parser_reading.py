"""Readers of citations and articles with the package `pubmed_parser`, for corpora that were made with it.

lewis2020 (section 3) extracted its text from PubMed and PMC with that package. docs/parsers.md lists what it
loses; `pubmill.corpus.medline` and `pubmill.corpus.jats` keep all of it. The package opens files itself, but
only after pubmill's own reader has refused those that declare entities.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pubmed_parser
from lxml import etree

from pubmill.corpus.article_metadata import ArticleMetadata
from pubmill.corpus.gzipped import BROKEN
from pubmill.corpus.jats import check_pmcid, languages, pmid, types
from pubmill.corpus.medline import read_medline
from pubmill.corpus.notices import flags_of, related_articles
from pubmill.corpus.shards import BOOK, UNREADABLE, Document, single_spaced
from pubmill.corpus.xml_parser import parse
from pubmill.errors import PubmillError

# Errors that the package raises on unexpected text.
FAILURES = (AttributeError, IndexError, KeyError, TypeError, ValueError)
DAMAGED: tuple[type[Exception], ...] = (etree.XMLSyntaxError, *FAILURES, *BROKEN)


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
            yield _merged_document(ours, other, path)


def _merged_document(ours: Document, theirs: dict[str, Any] | None, path: Path) -> Document:
    if theirs is None or f"pmid:{theirs['pmid']}" != ours.id:
        given = theirs["pmid"] if theirs else "nothing"
        raise PubmillError(f"{path}: pubmed_parser finds {given} where {ours.id} stands")
    text = _join_lines(theirs["abstract"].split("\n"))
    return ours._replace(title=single_spaced(theirs["title"]), sections=(("", text),) if text else ())


class ArticleReader:
    """Reader of PMC articles with `parse_pubmed_xml` and `parse_pubmed_paragraph(all_paragraph=True)`."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="pubmill-")

    def __call__(self, data: bytes, facts: ArticleMetadata, where: str) -> Document:
        """Read one article; if the package cannot, the document has the flag `unreadable` and no text."""
        root = parse(data, where)
        meta = root.find("front/article-meta")
        corrections = () if meta is None else related_articles(meta)
        if meta is not None:
            check_pmcid(meta, facts.pmcid, where)
            facts = replace(facts, pmid=facts.pmid or pmid(meta))
        path = Path(self.folder.name, "article.xml")
        path.write_bytes(data)
        try:
            article = pubmed_parser.parse_pubmed_xml(str(path))
            paragraphs = pubmed_parser.parse_pubmed_paragraph(str(path), all_paragraph=True)
        except FAILURES:
            return facts.document(UNREADABLE)
        abstract = single_spaced(article["abstract"])
        return facts.document(*flags_of(types(root), corrections))._replace(
            published=str(article["publication_year"] or ""),
            languages=languages(root),
            types=types(root),
            corrections=corrections,
            title=single_spaced(article["full_title"]),
            sections=(("", abstract),) if abstract else (),
            body=tuple(_merge_paragraphs(paragraphs)),
        )


def _merge_paragraphs(paragraphs: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield neighbouring paragraphs of the same title as one section; drop empty ones, as in the paper."""
    for title, group in groupby(paragraphs, key=lambda paragraph: single_spaced(paragraph["section"])):
        if text := _join_lines(one["text"] for one in group):
            yield title, text


def _join_lines(texts: Iterable[str]) -> str:
    return "\n".join(line for text in texts if (line := single_spaced(text)))
