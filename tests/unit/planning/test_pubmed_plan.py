"""Sizes of PubMed files in the listings of their folders."""

from pathlib import Path

import pytest

from pubmill.planning import pubmed_plan
from pubmill.planning.pubmed_plan import PubmedPlan, plan
from pubmill.specs import PubmedSource


def source(**files: list[str]) -> PubmedSource:
    return PubmedSource.model_validate(
        {"name": "pubmed", "kind": "pubmed", "url": "https://h/pubmed", "files": files}
    )


def test_sizes_are_added_and_what_the_folder_lacks_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "h/pubmed/baseline"
    folder.mkdir(parents=True)
    for number, size in ((1, 3), (2, 5), (9, 100)):
        (folder / f"pubmed26n{number:04d}.xml.gz").write_bytes(b"x" * size)
    assert plan(source(baseline=["26n0001-26n0003"]), str(tmp_path)) == PubmedPlan(
        "pubmed", 3, 8, 0, ("baseline/pubmed26n0003.xml.gz",), ()
    )


def test_files_without_a_size_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"pubmed26n0001.xml.gz": None, "pubmed26n0002.xml.gz": 5, "pubmed26n0003.xml.gz": 0}
    monkeypatch.setattr(pubmed_plan, "list_folder", lambda url, mirror: listed)
    found = plan(source(baseline=["26n0001-26n0004"]))
    assert (found.known_bytes, found.unknown, len(found.absent)) == (5, 1, 1)


def test_all_files_of_a_folder_that_cannot_be_listed_have_unknown_sizes(tmp_path: Path) -> None:
    (tmp_path / "h/pubmed/updatefiles").mkdir(parents=True)
    (tmp_path / "h/pubmed/updatefiles/pubmed26n0005.xml.gz").write_bytes(b"xx")
    found = plan(source(baseline=["26n0001-26n0004"], updatefiles=["26n0005"]), str(tmp_path))
    assert (found.files, found.known_bytes, found.unknown, found.absent) == (5, 2, 4, ())
    assert len(found.problems) == 1 and "the mirror has no folder" in found.problems[0]
