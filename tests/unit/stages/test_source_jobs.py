"""Names of PubMed's files, and checks of downloads."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import ArchiveWeights, File, LocalFile, PubmedSource, Specs
from pubmill.stages import Graph
from pubmill.stages.source_jobs import FetchFiles, pubmed_files
from pubmill.storage.files import sha256
from tests.unit.toy_studies import GraphOf, targets


def test_an_unknown_download_is_refused(root: Path) -> None:
    with pytest.raises(PubmillError, match="no spec names https://example.org/x"):
        targets(root).sources.checks("https://example.org/x")


def test_each_download_is_checked_as_its_spec_says(full_graph: Graph, full_specs: Specs) -> None:
    sources = full_graph.sources
    roles = [file for spec in full_specs.datasets.values() for file in spec.sources.values()]
    files = [file for file in roles if isinstance(file, File)]
    blobs = [file for file in files if file.git_blob]
    assert blobs and all(sources.checks(file.url) == ["--git-blob", file.git_blob] for file in blobs)
    hashed: list[File | ArchiveWeights] = [file for file in files if file.sha256]
    released = [one.released for one in full_specs.models.values()]
    archives = [one for one in released if isinstance(one, ArchiveWeights)]
    assert archives and hashed
    for one in (*hashed, *archives):
        assert sources.checks(one.url) == (["--sha256", one.sha256] if one.sha256 else [])
    assert sources.checks(full_specs.pretraining["pubmedbert-base"].sentence_splitter) == []
    pubmed = SimpleNamespace(source="pubmed", block="pubmed26n0001+49")
    assert full_graph.stage(FetchFiles).recipe_of(pubmed).md5_beside


def test_a_file_of_the_users_own_is_known_by_its_content(
    full_specs: Specs, graph_of: GraphOf, tmp_path: Path
) -> None:
    """Unless the spec has its SHA-256, which then holds."""
    (tmp_path / "a.txt").write_text("a")
    sources = graph_of(full_specs, local_files={"mine": str(tmp_path)}).sources
    assert sources.check_local_file("mine", "a.txt") == []
    assert sources.local_checks("mine", "a.txt") == ["--sha256", sha256(tmp_path / "a.txt")]
    with pytest.raises(PubmillError, match=r"\(local_files\.mine\) has no file b\.txt"):
        sources.check_local_file("mine", "b.txt")
    name, file = next(
        (name, role)
        for name, spec in full_specs.datasets.items()
        for role, one in spec.sources.items()
        if isinstance(one, LocalFile)
    )
    known = full_specs.datasets[name].sources[file].model_copy(update={"sha256": "0" * 64})
    changed = full_specs.datasets[name].model_copy(update={"sources": {file: known}})
    specs = full_specs.model_copy(update={"datasets": {name: changed}})
    assert isinstance(known, LocalFile)
    assert graph_of(specs).sources.local_checks(known.local, known.file) == ["--sha256", "0" * 64]


def source(**files: list[str]) -> PubmedSource:
    values = {"name": "pubmed", "kind": "pubmed", "url": "https://example.org/pubmed", "files": files}
    return PubmedSource.model_validate(values)


def test_pubmed_files_come_in_ncbis_order() -> None:
    files = pubmed_files(source(updatefiles=["26n0004"], baseline=["26n0001-26n0003"]))
    assert [files[0], files[-1]] == ["baseline/pubmed26n0001.xml.gz", "updatefiles/pubmed26n0004.xml.gz"]
    assert len(files) == 4


@pytest.mark.parametrize("wrong", ["n0001", "26n0001-27n0003", "26n1", "26n0001..26n0003", "26n0003-26n0001"])
def test_a_wrong_range_is_reported(wrong: str) -> None:
    with pytest.raises(PubmillError, match="is no range of PubMed files"):
        pubmed_files(source(baseline=[wrong]))
