"""Documents of datasets that were retracted, revised or deleted."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.corpus.dataset_documents import documents_in, notices_of, shards_of_sources
from pubmill.corpus.shards import Document, write_shard
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import DocumentsRecipe, SourceShards
from pubmill.storage.files import write_jsonl_gz


def test_documents_are_those_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl.gz"
    write_jsonl_gz(path, [{"id": "a", "document": "7"}, {"id": "b", "document": None}])
    assert documents_in([path]) == {"7"}


def test_the_shards_of_a_source_are_in_its_folder_and_in_its_order(tmp_path: Path) -> None:
    sources = (SourceShards(name="pmc", shards=("b", "a")), SourceShards(name="pubmed", shards=("26n0001",)))
    assert shards_of_sources(DocumentsRecipe(sources=sources, documents={}), tmp_path) == [
        [tmp_path / "pmc/b.parquet", tmp_path / "pmc/a.parquet"], [tmp_path / "pubmed/26n0001.parquet"],
    ]  # fmt: skip


def test_a_file_that_is_no_shard(tmp_path: Path) -> None:
    (tmp_path / "1.parquet").write_text("no")
    with pytest.raises(PubmillError, match=r"1.parquet"):
        notices_of([[tmp_path / "1.parquet"]], {"one": {"1"}})


def of(pmid: int, *flags: str, **more: Any) -> Document:
    return Document(id=f"pmid:{pmid}", pmid=str(pmid), date="2020-01-01", flags=flags, **more)


def shards(folder: Path, *files: list[Document]) -> list[Path]:
    paths = [folder / f"{number}.parquet" for number in range(len(files))]
    for number, (path, documents) in enumerate(zip(paths, files, strict=True)):
        write_shard(path, documents, source="s", file="f", order=number)
    return paths


def marks(found: dict[str, Any], dataset: str) -> dict[str, list[str]]:
    return {one["pmid"]: one["marks"] for one in found[dataset]["marked"]}


def test_documents_by_dataset(tmp_path: Path) -> None:
    retracted = of(3, "retracted", "manuscript", corrections=(("RetractionIn", "9"),))
    paths = shards(
        tmp_path,
        [of(1), of(2, "erratum"), of(3), of(4, "erratum_notice"), of(5), of(6), of(20, "concern")],
        [retracted, of(2), Document(id="pmid:5", deleted=True), Document(id="pmid:6", deleted=True)],
        [of(6)],
    )
    found = notices_of([paths], {"a": {"1", "2", "3", "5", "6", "77"}, "b": {"3", "4", "20"}, "c": set()})
    assert marks(found, "a") == {"3": ["retracted"], "5": ["deleted"]}
    assert marks(found, "b") == {"3": ["retracted"], "20": ["concern"]}
    assert (found["a"]["documents"], found["a"]["found"]) == (6, 5)
    assert found["a"]["marked"][0]["notices"] == [["RetractionIn", "9"]]
    assert found["c"] == {"documents": 0, "found": 0, "marked": []}


def test_the_highest_version_that_is_left_counts(tmp_path: Path) -> None:
    second = of(1, "retracted", version=2)
    paths = shards(tmp_path, [of(1), second], [of(1, "erratum")])
    assert marks(notices_of([paths], {"a": {"1"}}), "a") == {"1": ["retracted"]}
    gone = shards(
        tmp_path, [of(1), second], [of(1, "erratum")], [Document(id="pmid:1", version=2, deleted=True)]
    )
    assert marks(notices_of([gone], {"a": {"1"}}), "a") == {"1": ["erratum"]}


def test_the_source_with_more_authority_wins(tmp_path: Path) -> None:
    first, second = shards(tmp_path, [of(1)], [of(1, "retracted"), of(2, "concern")])
    assert marks(notices_of([[first], [second]], {"a": {"1", "2"}}), "a") == {"2": ["concern"]}


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"no")
    with pytest.raises(PubmillError, match=r"x\.parquet is damaged"):
        notices_of([[tmp_path / "x.parquet"]], {"a": {"1"}})
