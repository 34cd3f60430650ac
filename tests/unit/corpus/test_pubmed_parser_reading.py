"""The parser `pubmed_parser`: its text, with the fields that only pubmill reads."""

import gzip
from pathlib import Path

import pytest

from pubmill.corpus.medline import read_medline
from pubmill.corpus.pubmed_parser_reading import ArticleReader, read_medline_with_pubmed_parser
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from tests.unit.corpus.test_jats import article


def citation(pmid: int, article: str, version: int = 1) -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID Version='{version}'>{pmid}</PMID><Article><Journal>"
        f"<JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue><Title>J</Title></Journal>{article}"
        "<Language>eng</Language></Article><MedlineJournalInfo/></MedlineCitation></PubmedArticle>"
    )


def write(folder: Path, *content: str, head: str = "") -> Path:
    path = folder / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(f"{head}<PubmedArticleSet>{''.join(content)}</PubmedArticleSet>".encode()))
    return path


def test_citations_have_its_text_and_our_versions_and_deletions(tmp_path: Path) -> None:
    abstract = "<ArticleTitle>Of <i>TP<sub>53</sub></i>.</ArticleTitle><Abstract>{}</Abstract>"
    gene = "<AbstractText>The <i>TP<sub>53</sub></i> gene.</AbstractText>"
    labelled = "<AbstractText Label='AIM'>A.</AbstractText><AbstractText>B.</AbstractText>"
    path = write(
        tmp_path, citation(1, abstract.format(gene), version=2), citation(2, abstract.format(labelled)),
        citation(3, abstract.format("")),
        "<PubmedBookArticle><BookDocument><PMID>8</PMID></BookDocument></PubmedBookArticle>",
        "<DeleteCitation><PMID Version='1'>9</PMID></DeleteCitation>",
    )  # fmt: skip
    ours, theirs = list(read_medline(path)), list(read_medline_with_pubmed_parser(path))
    for one, other in zip(ours, theirs, strict=True):
        same = ("id", "version", "date", "published", "languages", "types", "licence", "flags", "deleted")
        assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
    assert theirs[0].title == "Of TP."
    assert [document.sections for document in theirs] == [
        (("", "The TP gene."),), (("", "AIM\nA.\nB."),), (), (), (),
    ]  # fmt: skip


def test_faulty_citations_and_articles_are_refused_before_it_sees_them(tmp_path: Path) -> None:
    path = write(tmp_path, citation(5, "").replace("Journal>", "Nothing>"))
    with pytest.raises(PubmillError, match="pubmed_parser fails at pmid:5"):
        list(read_medline_with_pubmed_parser(path))
    bomb = '<!DOCTYPE PubmedArticleSet [<!ENTITY e "x">]>'
    with pytest.raises(PubmillError, match="declares entities"):
        list(read_medline_with_pubmed_parser(write(tmp_path, citation(5, "&e;"), head=bomb)))
    bomb = '<!DOCTYPE article [<!ENTITY e "x">]>'
    with pytest.raises(PubmillError, match="declares entities"):
        ArticleReader()(article("<p>&e;</p>", doctype=bomb), Document("pmc:7"), "x")
    with pytest.raises(PubmillError, match="says PMC7"):
        ArticleReader()(article("<p>x</p>"), Document("pmc:8"), "x")


YEAR = "<pub-date pub-type='ppub'><year>2005</year></pub-date>"


def test_articles_have_its_text_and_those_that_it_does_not_read_none() -> None:
    meta = (
        f"<title-group><article-title>T</article-title></title-group>{YEAR}<abstract><p>Short.</p></abstract>"
    )
    content = (
        "<sec><title>A</title><p>One <italic>two <sub>lost</sub></italic>.</p><p>Three.</p><p/></sec>"
        "<sec><title>B</title><p>Four.</p></sec>"
    )
    facts = Document("pmc:7", version=2, date="2026-09-01", licence="CC BY", flags=("retracted",))
    found = ArticleReader()(article(content, meta), facts, "x")
    assert (found.id, found.version, found.published, found.title) == ("pmc:7", 2, "2005", "T")
    assert found.sections == (("", "Short."),)
    assert found.body == (("A", "One two .\nThree."), ("B", "Four."))
    assert (found.licence, found.flags, found.languages) == ("CC BY", ("retracted",), ("eng",))
    found = ArticleReader()(article("<p>x</p>"), Document("pmc:7"), "x")
    assert (found.id, found.body, found.flags) == ("pmc:7", (), ("unreadable",))
    named = ArticleReader()(
        article("<p>x</p>", "<article-id pub-id-type='pmid'>5</article-id>"), Document("pmc:7"), "x"
    )
    assert named.pmid == "5"
    facts = Document("pmc:7", pmid="5")
    found = ArticleReader()(b"<article><body><p>x</p></body></article>", facts, "x")
    assert (found.id, found.pmid, found.body, found.flags) == ("pmc:7", "5", (), ("unreadable",))
