"""Marks of retractions, concerns, errata and republications, in PubMed and in PMC."""

import gzip
from pathlib import Path

import pytest

from pubmill.corpus.jats import JatsReader
from pubmill.corpus.medline import read_medline
from pubmill.corpus.notices import MARKS, flags_of, listed_corrections
from pubmill.corpus.pubmed_parser_reading import ArticleReader, read_medline_with_pubmed_parser
from pubmill.corpus.shards import Document, read_shard, write_shard
from pubmill.recipes.corpora import SelectionRecipe
from tests.unit.corpus.test_jats import article

CORRECTIONS = (
    '<CommentsCorrections RefType="RetractionIn"><RefSource>J &lt;2&gt;</RefSource>'
    '<PMID Version="1">08</PMID><Note>x</Note></CommentsCorrections>\n'
    '<CommentsCorrections RefType="Cites"><RefSource>K</RefSource></CommentsCorrections>'
    '<CommentsCorrections RefType="ErratumIn"><RefSource>L</RefSource></CommentsCorrections>'
)
EXPECTED = (("RetractionIn", "8"), ("ErratumIn", ""))


def pubmed_file(folder: Path, types: str = "", corrections: str = "", more: str = "") -> Path:
    listed = f"<CommentsCorrectionsList>{corrections}</CommentsCorrectionsList>" if corrections else ""
    content = (
        '<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">1</PMID><Article><Journal>'
        "<JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue></Journal>"
        "<ArticleTitle>T</ArticleTitle><Language>eng</Language>"
        f"<PublicationTypeList><PublicationType>{types or 'Journal Article'}</PublicationType>"
        f"</PublicationTypeList></Article><MedlineJournalInfo/>{listed}{more}</MedlineCitation>"
        "</PubmedArticle></PubmedArticleSet>"
    )
    path = folder / "pubmed26n0001.xml.gz"
    path.write_bytes(gzip.compress(content.encode()))
    return path


@pytest.mark.parametrize("read", [read_medline, read_medline_with_pubmed_parser])
@pytest.mark.parametrize("comment", ["", "<!-- makes a tree -->"])
def test_citations_have_their_notices(tmp_path: Path, read: object, comment: str) -> None:
    path = pubmed_file(tmp_path, corrections=comment + CORRECTIONS)
    (found,) = read(path)  # type: ignore[operator]
    assert found.corrections == EXPECTED
    assert found.flags == ("retracted", "erratum")


@pytest.mark.parametrize(
    ("types", "kind", "flag"),
    [
        ("Retracted Publication", "", "retracted"),
        ("", "RetractionIn", "retracted"),
        ("Retraction of Publication", "", "retraction_notice"),
        ("Retraction Notice", "", "retraction_notice"),
        ("", "RetractionOf", "retraction_notice"),
        ("", "ExpressionOfConcernIn", "concern"),
        ("", "PartialRetractionIn", "erratum"),
        ("Published Erratum", "", "erratum_notice"),
        ("", "CorrectedandRepublishedIn", "republished"),
        ("Corrected and Republished Article", "", "republication"),
        ("", "CommentIn", None),
    ],
)
def test_either_mark_is_enough(tmp_path: Path, types: str, kind: str, flag: str | None) -> None:
    listed = f'<CommentsCorrections RefType="{kind}"><RefSource>J</RefSource></CommentsCorrections>'
    (found,) = read_medline(pubmed_file(tmp_path, types, listed if kind else ""))
    assert found.flags == ((flag,) if flag else ())


def test_lists_in_an_unusual_form_are_read_from_the_tree(tmp_path: Path) -> None:
    assert listed_corrections(CORRECTIONS.encode()) == EXPECTED
    assert listed_corrections(b" \r\n\t") == ()
    only_cited = b'<CommentsCorrections RefType="Cites"><RefSource>K</RefSource></CommentsCorrections>'
    assert listed_corrections(only_cited + b"\n") == ()
    assert listed_corrections(only_cited + b"x") is None
    assert listed_corrections(only_cited.replace(b"<RefSource>", b"<!-- c --><RefSource>")) is None
    unusual = CORRECTIONS.replace("<Note>x</Note>", "<Other><PMID>9</PMID></Other>")
    (found,) = read_medline(pubmed_file(tmp_path, corrections=unusual))
    assert found.corrections == EXPECTED


def test_articles_have_their_notices() -> None:
    link = 'xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="{}"'
    related = (
        f'<related-article related-article-type="corrected-article" ext-link-type="pubmed" {link}/>'
        f'<related-article related-article-type="retraction-forward" ext-link-type="doi" {link}/>'
        f'<related-article related-article-type="companion" ext-link-type="pubmed" {link}/>'
    )
    data = article("", related.format("25000149", "10.1/7", "5"))
    expected = (("ErratumFor", "25000149"), ("RetractionIn", ""))
    facts = Document("pmc:7", flags=("retracted", "manuscript"))
    found = JatsReader(())(data, facts, "x")
    assert found.corrections == expected
    assert found.flags == ("retracted", "manuscript", "erratum_notice")
    theirs = ArticleReader()(
        article("", related.format("25000149", "10.1/7", "5")
                + "<title-group><article-title>T</article-title></title-group>"
                "<pub-date pub-type='ppub'><year>2005</year></pub-date>"), facts, "x",
    )  # fmt: skip
    assert (theirs.corrections, theirs.flags) == (expected, found.flags)


def test_shards_keep_notices_and_each_flag_can_be_left_out(tmp_path: Path) -> None:
    document = Document(id="pmid:1", flags=("retracted",), corrections=EXPECTED)
    write_shard(tmp_path / "s.parquet", [document, Document(id="pmid:2")], source="s", file="f", order=1)
    assert [one for _, one in read_shard(tmp_path / "s.parquet")] == [document, Document(id="pmid:2")]
    for flag, giving in MARKS.items():
        assert flag in flags_of([min(giving)], ())
        assert SelectionRecipe(without=(flag,)).without == (flag,)  # type: ignore[arg-type]
    allowed = SelectionRecipe.__annotations__["without"].__args__[0].__args__
    assert set(MARKS) | {"manuscript", "ocr"} == set(allowed)
