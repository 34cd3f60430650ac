"""Years of datasets' documents, from parsed shards."""

from pathlib import Path

import pytest

from pubmill.corpus.document_years import documents_in, years_of
from pubmill.corpus.shards import Document, write_shard
from pubmill.errors import PubmillError
from pubmill.storage.files import write_jsonl_gz


def shard(path: Path, years: dict[str, str]) -> Path:
    documents = [Document(id=f"pmid:{pmid}", pmid=pmid, published=year) for pmid, year in years.items()]
    write_shard(path, documents, source="s", file="f", order=0)
    return path


def test_the_first_source_and_its_last_shard_decide(tmp_path: Path) -> None:
    first = [shard(tmp_path / "1.parquet", {"1": "1990", "2": "", "9": "1980"})]
    first.append(shard(tmp_path / "2.parquet", {"1": "1991"}))
    other = [shard(tmp_path / "3.parquet", {"1": "2000", "2": "2001"})]
    assert years_of([first, other], ["2", "1", "3"]) == {"1": 1991, "2": 2001}


def test_documents_are_those_of_examples_and_of_identifiers(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl.gz"
    write_jsonl_gz(path, [{"id": "a", "document": "7"}, {"id": "b", "document": None}])
    assert documents_in([path]) == {"7"}


def test_a_file_that_is_no_shard(tmp_path: Path) -> None:
    (tmp_path / "1.parquet").write_text("no")
    with pytest.raises(PubmillError, match=r"1.parquet"):
        years_of([[tmp_path / "1.parquet"]], ["1"])
