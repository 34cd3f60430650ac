"""Text of all real articles and citations that pubmed_parser loses, by kind; pubmill loses none of it.

The figures are those of docs/parsers.md: characters that are no blanks, of text that pubmill keeps.
"""

import gzip
from collections import Counter
from pathlib import Path

import pubmed_parser
import pytest
from lxml import etree

from pubmill.corpus.jats import NEVER, JatsReader
from pubmill.corpus.medline import read_medline
from pubmill.corpus.packages import Article
from pubmill.corpus.shards import Document
from tests.acceptance.test_pmc_real import articles as articles  # a fixture
from tests.acceptance.test_pubmed_real import FILES
from tests.losses import characters, found, number

pytestmark = pytest.mark.weekly

PLAIN = etree.XMLParser(remove_comments=True, remove_pis=True)
FORMULAS = {"inline-formula", "disp-formula", "{http://www.w3.org/1998/Math/MathML}math"}


def kind_in_body(tags: list[str]) -> str:
    """Return the kind of place of a piece of an article's body."""
    if "floats-group" in tags:
        return "floats behind the body"
    if FORMULAS & set(tags):
        return "formulas"
    if {"td", "th"} & set(tags):
        return "cells of tables"
    if "p" in tags:
        return "paragraphs" if tags[-1] == "p" else "tags in paragraphs"
    if "title" in tags:
        return "titles of sections" if tags[tags.index("title") - 1] == "sec" else "other titles"
    return "other places outside of paragraphs"


def test_what_is_lost_of_articles(articles: list[Article], tmp_path: Path) -> None:
    path, read = tmp_path / "article.xml", JatsReader(())
    kept: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for article in articles:
        root = etree.fromstring(article.data, PLAIN)
        places = [*root.iter("body"), *root.iterchildren("floats-group")]
        pieces = number([place for place in places if not below_body(place)], NEVER, kind_in_body)
        data = etree.tostring(root, encoding="UTF-8")
        path.write_bytes(data)
        paragraphs = pubmed_parser.parse_pubmed_paragraph(str(path), all_paragraph=True)
        theirs = found(text for one in paragraphs for text in (one["section"], one["text"]))
        body = read(data, Document(article.facts.id), article.name).body
        ours = found(text for section in body for text in section)
        kept += characters(pieces, ours)
        lost += characters(pieces, ours - theirs)
        dropped += characters(pieces, set(range(len(pieces))) - ours)
    # Titles of sections without text, and footnote marks in titles.
    assert dropped == {"titles of sections": 386}
    assert kept == {
        "paragraphs": 43_001_135, "cells of tables": 2_777_859, "floats behind the body": 1_266_795,
        "tags in paragraphs": 850_782, "titles of sections": 658_760, "other titles": 120_224,
        "formulas": 9_179, "other places outside of paragraphs": 5_056,
    }  # fmt: skip
    assert lost == {
        "cells of tables": 2_762_014, "floats behind the body": 1_266_795, "tags in paragraphs": 50_803,
        "titles of sections": 58_526, "other titles": 80_645, "formulas": 8_996,
        "other places outside of paragraphs": 5_056,
    }  # fmt: skip


def below_body(place: etree._Element) -> bool:
    return any(above.tag == "body" for above in place.iterancestors())


def test_what_is_lost_of_citations(shared: Path, tmp_path: Path) -> None:
    count: Counter[str] = Counter()
    for name in FILES:
        path = shared / "mirror/ftp.ncbi.nlm.nih.gov/pubmed" / name
        root = etree.fromstring(gzip.decompress(path.read_bytes()), PLAIN)
        for citation in root.iterchildren("PubmedArticle"):
            count += losses_of(citation, tmp_path / "pubmed26n0001.xml.gz")
    assert count == {
        "citations": 2211, "characters": 2_422_527, "citations with a loss": 12, "in inline tags": 307,
        "fails at pmid:99999999": 1,  # made up: a citation without Journal
    }  # fmt: skip


def losses_of(citation: etree._Element, path: Path) -> Counter[str]:
    """Return the lost characters of a citation's title and abstract by kind, and other failures."""
    texts = [
        *citation.iterfind(".//Article/ArticleTitle"),
        *citation.iterfind(".//Article/Abstract/AbstractText"),
    ]
    pieces = number(texts, (), lambda tags: "in inline tags" if len(tags) > 1 else "directly in a text")
    packed = b"<PubmedArticleSet>%s</PubmedArticleSet>" % etree.tostring(citation, with_tail=False)
    path.write_bytes(gzip.compress(packed, mtime=0))
    (ours,) = read_medline(path)
    every = set(range(len(pieces)))
    assert found([ours.title, *(text for _, text in ours.sections)]) == every
    count = Counter({"citations": 1, "characters": sum(size for size, _ in pieces)})
    try:
        (theirs,) = pubmed_parser.parse_medline_xml(str(path))
    except AttributeError:
        return count + Counter([f"fails at {ours.id}"])
    missing = characters(pieces, every - found([theirs["title"], theirs["abstract"]]))
    return count + missing + Counter(["citations with a loss"] if missing else [])
