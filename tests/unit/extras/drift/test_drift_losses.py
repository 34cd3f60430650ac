"""A checkpoint on held-out documents by date: what it has learnt is easier than what it has not.

Their months are from PubMed's files, their years from parsed shards.
"""

import gzip
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.corpus.medline import read_medline
from pubmill.corpus.shards import Document, write_shard
from pubmill.errors import PubmillError
from pubmill.examples.sentences import FOLDER, TABLES
from pubmill.extras.drift import drift_losses
from pubmill.extras.drift.drift_losses import Places, dates_of, measure_drift, months_of
from pubmill.extras.drift.drift_recipes import DatedShard, DriftRecipe
from pubmill.pretraining.packed_tokens import write_packed
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.report.charts import Drift
from pubmill.storage.result_paths import part_name
from tests.unit.pretraining import toy_pretraining as toy
from tests.unit.toy_shards import make_shard

DOCUMENTS = {
    "1": ("<Year>2019</Year><Month>Jan</Month>", "2019", "w1 " * 12),
    "2": ("<Year>2019</Year><Month>Feb</Month>", "2019", "w2 " * 12),
    "3": ("<Year>2020</Year>", "2020", "w15 " * 12),
    "4": ("<Year>2021</Year><Month>May</Month>", "2021", "w16 w17c1 " * 6),
    "5": ("", "", "w3 " * 12),
}
"""PMID -> date in PubMed's file, year in the shard, text; words from w10 on are not trained on."""
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


@pytest.fixture(scope="module")
def drift(tmp_path_factory: pytest.TempPathFactory) -> Drift:
    folder = tmp_path_factory.mktemp("drift")
    data = toy.make_data(folder)
    known = [[[5 + word % 10] * length for length in (4, 9, 6)] for word in range(40)]
    write_packed(data / "tokens", [make_shard(known, len(toy.PIECES))], len(toy.PIECES), toy.SPECIAL)
    recipe = toy.changed(steps=60)
    checkpoint = toy.pretrain(data, folder / "step-60", 60, recipe=recipe)
    names = [f"pmid:{pmid}" for pmid in DOCUMENTS]
    texts = [text for *_, text in DOCUMENTS.values()]
    pq.write_table(pa.table({"id": names, "title": names, "text": texts}), folder / part_name(0))
    shard = folder / "parsed/s/p.parquet"
    shard.parent.mkdir(parents=True)
    rows = [Document(id=f"pmid:{p}", pmid=p, published=year) for p, (_, year, _) in DOCUMENTS.items()]
    write_shard(shard, rows, source="s", file="f", order=0)
    pubmed_file(folder / "p.xml.gz", *((pmid, date) for pmid, (date, *_) in DOCUMENTS.items()))
    with zipfile.ZipFile(folder / "punkt.zip", "w") as archive:
        for table in TABLES:
            archive.writestr(f"{FOLDER}/{table}", "")
    made = DriftRecipe(
        recipe="toy",
        step=60,
        corpus="c",
        pretraining=recipe,
        packing=PackingRecipe(held_out=1.0),
        shards=(DatedShard(parsed="s/p.parquet", file="p.xml.gz"),),
    )
    parts, parsed = [folder / part_name(0)], folder / "parsed"
    places = Places(checkpoint, parts, parsed, folder, data, folder / "punkt.zip")
    return measure_drift(made, places, folder / "packed")


def test_documents_are_counted_by_date(drift: Drift) -> None:
    assert (drift.documents, drift.undated) == (5, 1)
    assert [(one.date, one.documents) for one in drift.months] == [
        ("2019-01", 1),
        ("2019-02", 1),
        ("2021-05", 1),
    ]
    assert [(one.date, one.documents) for one in drift.years] == [("2019", 2), ("2020", 1), ("2021", 1)]


def test_words_that_were_not_trained_on_have_a_higher_loss(drift: Drift) -> None:
    known, new, newest = (one.loss for one in drift.years)
    assert known + 0.5 < min(new, newest)


def test_a_year_is_the_mean_of_its_masked_subwords(drift: Drift) -> None:
    months = [one for one in drift.months if one.date.startswith("2019")]
    masked = sum(one.masked for one in months)
    assert drift.years[0].masked == masked
    assert drift.years[0].loss == pytest.approx(sum(one.loss * one.masked for one in months) / masked)


def test_the_fit_counts_the_words_of_each_year(drift: Drift) -> None:
    found = {one.date: (one.words, one.subwords_per_word, one.split_words) for one in drift.fit}
    assert found == {"2019": (24, 1.0, 0.0), "2020": (12, 1.0, 0.0), "2021": (12, 1.5, 0.5)}


@pytest.mark.parametrize("chunk", [1, 50, 1 << 22])
def test_a_month_is_a_name_or_a_number(tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift_losses, "CHUNK", chunk)
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
