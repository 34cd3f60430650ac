"""Retractions, concerns, errata and republications in PubMed and PMC, and of the documents of datasets."""

import gzip
from pathlib import Path
from typing import Any, get_args

import pytest

from pubmill.corpus.jats import JatsReader
from pubmill.corpus.medline import read_medline
from pubmill.corpus.notices import MARKS, documents_in, notices_of
from pubmill.corpus.pubmed_parser_reading import ArticleReader, read_medline_with_pubmed_parser
from pubmill.corpus.shards import Document, read_shard, write_shard
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import Flag
from pubmill.storage.files import write_jsonl_gz
from tests.unit.corpus.test_jats import article
from tests.unit.corpus.toy_corpus import write_shards

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


@pytest.mark.parametrize(("types", "kind", "flag"), [
    ("Retracted Publication", "", "retracted"), ("", "RetractionIn", "retracted"),
    ("Retraction of Publication", "", "retraction_notice"), ("Retraction Notice", "", "retraction_notice"),
    ("", "RetractionOf", "retraction_notice"), ("", "ExpressionOfConcernIn", "concern"),
    ("", "PartialRetractionIn", "erratum"), ("Published Erratum", "", "erratum_notice"),
    ("", "CorrectedandRepublishedIn", "republished"),
    ("Corrected and Republished Article", "", "republication"),
    ("", "CommentIn", None),
])  # fmt: skip
def test_either_mark_is_enough(tmp_path: Path, types: str, kind: str, flag: str | None) -> None:
    listed = f'<CommentsCorrections RefType="{kind}"><RefSource>J</RefSource></CommentsCorrections>'
    (found,) = read_medline(pubmed_file(tmp_path, types, listed if kind else ""))
    assert found.flags == ((flag,) if flag else ())


@pytest.mark.parametrize(("usual", "unusual"), [
    ("<Note>x</Note>", "<Other><PMID>9</PMID></Other>"), ("\n", "text \r\n\t"),
    ("<RefSource>K", "<!-- c --><RefSource>K"),
])  # fmt: skip
def test_lists_in_an_unusual_form_are_read_from_the_tree(tmp_path: Path, usual: str, unusual: str) -> None:
    assert usual in CORRECTIONS
    (found,) = read_medline(pubmed_file(tmp_path, corrections=CORRECTIONS.replace(usual, unusual)))
    assert found.corrections == EXPECTED


def test_lists_of_references_have_no_corrections_and_shards_keep_notices(tmp_path: Path) -> None:
    cited = '<CommentsCorrections RefType="Cites"><RefSource>K</RefSource></CommentsCorrections>'
    for listed in (cited, " \r\n\t"):
        (found,) = read_medline(pubmed_file(tmp_path, corrections=listed))
        assert found.corrections == ()
    document = Document(id="pmid:1", flags=("retracted",), corrections=EXPECTED)
    write_shard(tmp_path / "s.parquet", [document, Document(id="pmid:2")], source="s", file="f", order=1)
    assert [one for _, one in read_shard(tmp_path / "s.parquet")] == [document, Document(id="pmid:2")]
    assert {*MARKS, "manuscript", "ocr"} == set(get_args(Flag))


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


def test_documents_are_those_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl.gz"
    write_jsonl_gz(path, [{"id": "a", "document": "7"}, {"id": "b", "document": None}])
    assert documents_in([path]) == {"7"}


def of(pmid: int, *flags: str, **more: Any) -> Document:
    return Document(id=f"pmid:{pmid}", pmid=str(pmid), date="2020-01-01", flags=flags, **more)


def marks(found: dict[str, Any], dataset: str) -> dict[str, list[str]]:
    return {one["pmid"]: one["marks"] for one in found[dataset]["marked"]}


def test_documents_by_dataset(tmp_path: Path) -> None:
    retracted = of(3, "retracted", "manuscript", corrections=(("RetractionIn", "9"),))
    paths = write_shards(tmp_path, [
        [of(1), of(2, "erratum"), of(3), of(4, "erratum_notice"), of(5), of(6), of(20, "concern")],
        [retracted, of(2), Document(id="pmid:5", deleted=True), Document(id="pmid:6", deleted=True)],
        [of(6)],
    ])  # fmt: skip
    found = notices_of([paths], {"a": {"1", "2", "3", "5", "6", "77"}, "b": {"3", "4", "20"}, "c": set()})
    assert marks(found, "a") == {"3": ["retracted"], "5": ["deleted"]}
    assert marks(found, "b") == {"3": ["retracted"], "20": ["concern"]}
    assert (found["a"]["documents"], found["a"]["found"]) == (6, 5)
    assert found["a"]["marked"][0]["notices"] == [["RetractionIn", "9"]]
    assert found["c"] == {"documents": 0, "found": 0, "marked": []}


def test_the_highest_version_and_the_source_with_more_authority_count(tmp_path: Path) -> None:
    second = of(1, "retracted", version=2)
    files = [[of(1), second], [of(1, "erratum")]]
    paths = write_shards(tmp_path, files)
    assert marks(notices_of([paths], {"a": {"1"}}), "a") == {"1": ["retracted"]}
    files.append([Document(id="pmid:1", version=2, deleted=True)])
    gone = write_shards(tmp_path, files)
    assert marks(notices_of([gone], {"a": {"1"}}), "a") == {"1": ["erratum"]}
    first, other = write_shards(tmp_path, [[of(1)], [of(1, "retracted"), of(2, "concern")]])
    assert marks(notices_of([[first], [other]], {"a": {"1", "2"}}), "a") == {"2": ["concern"]}
    (tmp_path / "x.parquet").write_bytes(b"no")
    with pytest.raises(PubmillError, match=r"x\.parquet is damaged"):
        notices_of([[tmp_path / "x.parquet"]], {"a": {"1"}})
