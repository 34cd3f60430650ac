"""Documents of datasets that were retracted, revised or deleted."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.corpus.notices import documents_in, notices_of
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from pubmill.storage.files import write_jsonl_gz
from tests.unit.corpus.toy_corpus import write_shards


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
