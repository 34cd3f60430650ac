"""From shards to a corpus: every citation becomes a document or has a rejection reason."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.corpus import shards
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.shards import Document, read_shard, write_shard
from pubmill.corpus.statistics import PART, select, total, write_manifest
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.storage.files import read_json, write_json
from pubmill.storage.parquet import parquet_writer
from tests.unit.corpus.toy_corpus import select_parts, totals, write_shards


def text(number: int, words: int, **fields: Any) -> Document:
    sections = (("AIM", "é " * words + "end"),) if words else ()
    return Document(
        id=f"pmid:{number}", pmid=str(number), title="T", date="2020-01-01", published="1999",
        sections=sections, **fields,
    )  # fmt: skip


def corpus(folder: Path) -> list[Path]:
    """Select the documents below; return the parts."""
    shards = write_shards(folder, SHARDS, ("source0", "source1"))
    write_latest(folder / "latest.parquet", shards, [0] * len(shards))
    return select_parts(folder, shards, SelectionRecipe(min_words=3))


SHARDS = [
    [text(1, 5, flags=("erratum",)), text(2, 0), text(3, 1), text(4, 9), text(5, 4)],
    [text(1, 6, version=2, flags=("retracted", "erratum")), Document(id="pmid:4", deleted=True),
     *(text(n, 1) for n in range(10, 20))],
    [],
]  # fmt: skip


def test_everything_is_accounted_for(tmp_path: Path) -> None:
    parts = corpus(tmp_path)
    found = totals(tmp_path, parts)
    assert found == {
        "parsed": 16, "deletions": 1, "documents": 2, "words": 12, "bytes": 46,
        "rejected": {"superseded": 1, "no_abstract": 1, "too_short": 11, "deleted": 1},
        "samples": {
            "superseded": ["pmid:1"], "no_abstract": ["pmid:2"], "deleted": ["pmid:4"],
            "too_short": ["pmid:3", "pmid:10", "pmid:11", "pmid:12", "pmid:13"],
        },
        "by_source": {
            "source0": {
                "parsed": 5, "deletions": 0, "documents": 1, "words": 5, "bytes": 20,
                "rejected": {"superseded": 1, "no_abstract": 1, "too_short": 1, "deleted": 1},
            },
            "source1": {
                "parsed": 11, "deletions": 1, "documents": 1, "words": 7, "bytes": 26,
                "rejected": {"too_short": 10},
            },
        },
        "years": {"1999": 2}, "flags": {"retracted": 1, "erratum": 1}, "day": "2020-01-01",
    }  # fmt: skip
    assert pq.read_table(parts[0]).to_pylist() == [
        {
            "id": "pmid:5", "version": 1, "pmid": "5", "date": "2020-01-01", "title": "T",
            "text": "AIM: é é é é end", "words": 5, "bytes": 20,
        }
    ]  # fmt: skip
    assert pq.read_table(tmp_path / "manifest.parquet").to_pylist() == [
        {"id": "pmid:5", "version": 1, "date": "2020-01-01", "part": "part-0000", "row": 0},
        {"id": "pmid:1", "version": 2, "date": "2020-01-01", "part": "part-0001", "row": 0},
    ]


def test_statistics_that_do_not_add_up(tmp_path: Path) -> None:
    parts = corpus(tmp_path)
    statistics = [part.with_suffix(".json") for part in parts]
    with pytest.raises(PubmillError, match="says 1 documents, its part holds 2"):
        total(statistics, [2, 1, 0])
    write_json(statistics[0], {**read_json(statistics[0]), "parsed": 6})
    with pytest.raises(PubmillError, match=r"part-0000\.json: parsed 6 but kept and rejected 5"):
        total(statistics, write_manifest(tmp_path / "manifest.parquet", parts))


@pytest.mark.parametrize(("shard", "index", "message"), [
    ("shard-0.parquet", 1, "made from other shards"), ("part-0000.parquet", 0, "not a parsed shard"),
    ("no.parquet", 0, "does not exist"),
])  # fmt: skip
def test_other_shards_and_files_are_refused(tmp_path: Path, shard: str, index: int, message: str) -> None:
    corpus(tmp_path)
    latest, part, statistics = (tmp_path / name for name in ("latest.parquet", "x.parquet", "x.json"))
    with pytest.raises(PubmillError, match=message):
        select(tmp_path / shard, index, latest, SelectionRecipe(), part, statistics)
    assert not part.exists()


def test_row_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By documents and by characters, so that memory does not grow with the source file."""
    monkeypatch.setattr(shards, "ROWS_PER_GROUP", 4)
    monkeypatch.setattr(shards, "CHARACTERS_PER_GROUP", 10)
    short = [Document(id=f"s:{number}") for number in range(9)]
    long = Document(id="t:1", title="four", sections=(("LABEL", "four"),), body=(("", "two"),))
    documents = [*short, long, *short[:3], long._replace(title="")]
    write_shard(tmp_path / "a", documents, source="s", file="f", order=3)
    metadata = pq.read_metadata(tmp_path / "a")
    rows = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert rows == [4, 4, 2, 4]
    assert list(read_shard(tmp_path / "a")) == list(enumerate(documents))
    assert write_shard(tmp_path / "a", [], source="s", file="f", order=3) == (0, 0)
    assert list(read_shard(tmp_path / "a")) == []


def test_rows_of_a_manifest_count_through_a_part_of_any_size(tmp_path: Path) -> None:
    """Arrow reads 65,536 rows at a time."""
    count, part = 70_000, tmp_path / "part-0000.parquet"
    rows = {name: pa.nulls(count, PART.field(name).type) for name in PART.names}
    rows["id"] = pa.array(map(str, range(count)))
    with parquet_writer(part, PART) as writer:
        writer.write_table(pa.table(rows, PART))
    assert write_manifest(tmp_path / "manifest.parquet", [part, part]) == [count, count]
    found = pq.read_table(tmp_path / "manifest.parquet")
    assert found["row"].to_pylist() == [*range(count)] * 2
    assert found["part"].unique().to_pylist() == ["part-0000"]
