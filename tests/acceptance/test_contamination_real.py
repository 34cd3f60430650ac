"""Texts of a real dataset in real abstracts, whose PMIDs confirm the word matches; real duplicates."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pubmill.corpus.contamination import EvaluationTexts, find_in_part, report, write_index
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.duplicates import write_duplicates, write_fingerprints
from pubmill.corpus.own_texts import read_text
from pubmill.corpus.shards import write_shard
from pubmill.corpus.statistics import select
from pubmill.recipes.corpora import EvaluatedDataset, SelectionRecipe
from pubmill.storage.files import read_json
from tests.acceptance.conftest import Converted

DATASET = "chemprot@blurb"
LONG = SelectionRecipe(min_words=128)


def prepared(shared: Path, folder: Path, name: str) -> tuple[Path, Path]:
    """The parsed shard of a file of abstracts, and which of them are current."""
    shard, latest = folder / f"{name}.parquet", folder / "latest.parquet"
    texts = read_text(shared / f"standins/abstracts/{name}.jsonl.gz", "abstracts")
    write_shard(shard, texts, source="abstracts", file=name, order=0)
    write_latest(latest, [shard], [0])
    return shard, latest


@pytest.mark.weekly
def test_abstracts_of_chemprot_are_found_and_can_be_excluded(
    shared: Path, converted: Converted, tmp_path: Path
) -> None:
    index, datasets = tmp_path / "index.parquet", converted(DATASET).parent
    write_index(index, [EvaluatedDataset(dataset=DATASET, splits=("dev", "test"), pmids=True)], datasets)
    shard, latest = prepared(shared, tmp_path, "asreview_systematic_review_datasets")
    part, found = tmp_path / "part.parquet", tmp_path / "found.json"

    select(shard, 0, latest, LONG, part, tmp_path / "part.json")
    find_in_part(part, EvaluationTexts(index), found)
    assert len({match[0] for match in read_json(found)["matches"]}) == 3
    dev = report("asreview", index, [found])["datasets"][DATASET]["dev"]
    assert dev["documents"] == ["pmid:10839333", "pmid:11772142", "pmid:12901032"]
    assert (dev["texts"], dev["found_by_pmid"], dev["found_by_text"]) == (2208, 9, 7)
    by_words = {document for document, *_, words in read_json(found)["matches"] if words}
    assert by_words == set(dev["documents"]) - {"pmid:11772142"}  # its two sentences are too short

    select(shard, 0, latest, LONG, part, tmp_path / "part.json", EvaluationTexts(index))
    assert read_json(tmp_path / "part.json")["rejected"]["contamination"] == 3
    find_in_part(part, EvaluationTexts(index), found)
    assert read_json(found)["matches"] == []


@pytest.mark.weekly
def test_abstracts_that_two_editions_share_are_similar(shared: Path, tmp_path: Path) -> None:
    """In part of one collection, abstracts include the titles: similar to the other's, not identical."""
    names = ("medical_abstracts_tc_test", "ohsumed_first20000")
    shards, prints = [], []
    for index, name in enumerate(names):
        shards.append(prepared(shared, tmp_path, name)[0])
        prints.append(tmp_path / f"prints-{index}.parquet")
        write_fingerprints(shards[-1], 0, tmp_path / "latest.parquet", LONG, None, prints[-1], similar=True)
    write_duplicates(tmp_path / "duplicates.parquet", prints, 0.8)
    rows = pq.read_table(tmp_path / "duplicates.parquet").to_pylist()
    words = [
        {
            row["id"]: set(" ".join(s["text"] for s in row["sections"]).lower().split())
            for row in pq.read_table(shard, columns=["id", "sections"]).to_pylist()
        }
        for shard in shards
    ]
    ids = [pq.read_table(shard)["id"].to_pylist() for shard in shards]
    everything = words[0] | words[1]
    shares = [
        len(copy & everything[row["kept"]]) / len(copy)
        for row in rows
        if (copy := everything[ids[row["shard"]][row["position"]]])
    ]
    assert len(rows) > 1000 and min(shares) > 0.65
