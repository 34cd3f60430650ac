"""Names of the files of PubMed."""

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import PubmedSource
from pubmill.stages.source_jobs import pubmed_files


def source(**files: list[str]) -> PubmedSource:
    return PubmedSource.model_validate(
        {"name": "pubmed", "kind": "pubmed", "url": "https://example.org/pubmed", "files": files}
    )


def test_pubmed_files_come_in_ncbis_order() -> None:
    files = pubmed_files(source(updatefiles=["26n0004"], baseline=["26n0001-26n0003"]))
    assert files[0] == "baseline/pubmed26n0001.xml.gz"
    assert files[-1] == "updatefiles/pubmed26n0004.xml.gz"
    assert len(files) == 4


@pytest.mark.parametrize("wrong", ["n0001", "26n0001-27n0003", "26n1", "26n0001..26n0003"])
def test_a_wrong_range_is_reported(wrong: str) -> None:
    with pytest.raises(PubmillError, match="is no range of PubMed files"):
        pubmed_files(source(baseline=[wrong]))
