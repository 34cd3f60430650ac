"""A checkpoint on held-out documents by date: what it has learnt is easier than what it has not."""

import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.corpus.shards import Document, write_shard
from pubmill.examples.sentences import FOLDER, TABLES
from pubmill.extras.drift.drift_losses import Places, measure_drift
from pubmill.extras.drift.drift_recipes import DatedShard, DriftRecipe
from pubmill.pretraining.packed_tokens import write_packed
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.report.drift_figures import Drift
from pubmill.storage.result_paths import part_name
from tests.unit.extras.drift.test_publication_dates import pubmed_file
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
