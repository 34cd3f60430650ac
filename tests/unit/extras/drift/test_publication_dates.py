"""Months of publication from PubMed's files, and years from parsed shards."""

import gzip
from pathlib import Path

import pytest

from pubmill.corpus.medline import read_medline
from pubmill.corpus.shards import write_shard
from pubmill.errors import PubmillError
from pubmill.extras.drift import publication_dates
from pubmill.extras.drift.publication_dates import dates_of, months_of

ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article><Journal>
<JournalIssue><PubDate>{date}</PubDate></JournalIssue></Journal>
<ArticleTitle>Made up.</ArticleTitle></Article>
</MedlineCitation></PubmedArticle>"""


def pubmed_file(path: Path, *citations: tuple[str, str]) -> Path:
    """Write a PubMed file of (PMID, content of PubDate)."""
    versions: dict[str, int] = {}
    articles = []
    for pmid, date in citations:
        versions[pmid] = versions.get(pmid, 0) + 1
        articles.append(ARTICLE.format(pmid=pmid, date=date, version=versions[pmid]))
    path.write_bytes(gzip.compress(f"<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>".encode()))
    return path


@pytest.mark.parametrize("chunk", [1, 50, 1 << 22])
def test_a_month_is_a_name_or_a_number(tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publication_dates, "CHUNK", chunk)
    file = pubmed_file(
        tmp_path / "p.xml.gz",
        ("1", "<Year>2019</Year><Month>Sep</Month><Day>2</Day>"),
        ("2", "<Year>2020</Year>\n<Month>03</Month>"),
        ("3", "<Year>2020</Year>"),
        ("4", "<MedlineDate>2003 Jan-Feb</MedlineDate>"),
        ("5", "<Year>2020</Year><Month>13</Month>"),
        ("6", "<Year>2020</Year><Month>Jan</Month>"),
    )
    assert months_of({"1", "2", "3", "4", "5"}, file) == {"1": "2019-09", "2": "2020-03"}


def test_the_last_version_decides_and_years_stand_for_months_that_lack(tmp_path: Path) -> None:
    file = pubmed_file(
        tmp_path / "p.xml.gz",
        ("1", "<Year>2019</Year><Month>Sep</Month>"),
        ("1", "<Year>2020</Year>"),
        ("2", "<Year>2021</Year><Month>Dec</Month>"),
        ("3", ""),
        ("4", "<Year>2022</Year><Month>Jan</Month>"),
    )
    shard = tmp_path / "p.parquet"
    write_shard(shard, read_medline(file), source="s", file="f", order=0)
    names = {f"pmid:{number}" for number in (1, 2, 3)}
    assert dates_of(names, shard, file) == {"pmid:1": "2020", "pmid:2": "2021-12"}
    assert dates_of(names, shard, None) == {"pmid:1": "2020", "pmid:2": "2021"}


def test_a_cut_file_is_named(tmp_path: Path) -> None:
    file = pubmed_file(tmp_path / "p.xml.gz", ("1", "<Year>2019</Year>"))
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(PubmillError, match=r"p.xml.gz: not a whole gzip file.*fetch it again"):
        months_of({"1"}, file)
