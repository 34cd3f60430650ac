"""Numbers of documents with notices."""

import gzip
from pathlib import Path

from pubmill.cli.audit_retractions_command import retractions
from pubmill.corpus.notice_counts import count_marks
from pubmill.corpus.shards import Document, write_shard

CITATION = (
    '<PubmedArticle><MedlineCitation><PMID Version="1">{}</PMID><Article><Journal><JournalIssue><PubDate>'
    "<Year>2001</Year></PubDate></JournalIssue></Journal><ArticleTitle>T</ArticleTitle>"
    "<Language>eng</Language><PublicationTypeList><PublicationType>{}</PublicationType>"
    "</PublicationTypeList></Article><MedlineJournalInfo/><CommentsCorrectionsList>{}"
    "</CommentsCorrectionsList></MedlineCitation></PubmedArticle>"
)
LINK = '<CommentsCorrections RefType="{}"><RefSource>J</RefSource>{}</CommentsCorrections>'
RETRACTED = LINK.format("RetractionIn", '<PMID Version="1">9</PMID>')


def write(folder: Path, name: str, *content: str) -> Path:
    path = folder / f"{name}.xml.gz"
    path.write_bytes(gzip.compress(f"<PubmedArticleSet>{''.join(content)}</PubmedArticleSet>".encode()))
    return path


def test_marks_by_type_and_by_link(tmp_path: Path) -> None:
    comment = LINK.format("CommentIn", "")
    first = write(
        tmp_path, "pubmed26n0002", CITATION.format(1, "Retracted Publication", RETRACTED),
        CITATION.format(2, "Retracted Publication", comment), CITATION.format(3, "Review", RETRACTED),
        CITATION.format(4, "Review", RETRACTED), CITATION.format(5, "Retracted Publication", comment),
    )  # fmt: skip
    later = write(
        tmp_path, "pubmed26n0010", CITATION.format(4, "Review", comment),
        "<DeleteCitation><PMID Version='1'>5</PMID></DeleteCitation>",
    )  # fmt: skip
    documents, rows = count_marks([later, first])
    assert documents == 4
    assert rows[0] == ("retracted", "3", "1", "1", "1", "2")
    assert {row[1] for row in rows[1:]} == {"0"}


def test_shards_of_pmc(tmp_path: Path, capsys: object) -> None:
    path = tmp_path / "s.parquet"
    write_shard(path, [Document(id="pmc:1", flags=("retracted",))], source="s", file="f", order=0)
    assert count_marks([path])[1][0] == ("retracted", "1", "0", "0", "0", "0")
    retractions([path])
    assert capsys.readouterr().out.splitlines()[:3:2] == [  # type: ignore[attr-defined]
        "1 documents",
        "mark               documents  type and link  type only  link only  PMID of the other",
    ]
