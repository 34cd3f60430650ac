"""Checks of downloads."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import ArchiveWeights, File, LocalFile, Specs
from pubmill.stages import Graph
from pubmill.stages.source_jobs import FetchFiles
from pubmill.storage.files import sha256
from tests.unit.toy_studies import GraphOf, targets


def test_an_unknown_download_is_refused(root: Path) -> None:
    with pytest.raises(PubmillError, match="no spec names https://example.org/x"):
        targets(root).sources.checks("https://example.org/x")


def test_each_download_is_checked_as_its_spec_says(full_graph: Graph, full_specs: Specs) -> None:
    sources = full_graph.sources
    dataset = full_specs.datasets["ebm-pico"].sources.values()
    blobs = [file for file in dataset if isinstance(file, File) and file.git_blob]
    assert blobs
    assert all(sources.checks(file.url) == ["--git-blob", file.git_blob] for file in blobs)
    hashed = [
        file
        for spec in full_specs.datasets.values()
        for file in spec.sources.values()
        if isinstance(file, File) and file.sha256
    ]
    assert all(sources.checks(file.url) == ["--sha256", file.sha256] for file in hashed)
    archives = [
        one.released for one in full_specs.models.values() if isinstance(one.released, ArchiveWeights)
    ]
    assert archives
    for archive in archives:
        assert sources.checks(archive.url) == (["--sha256", archive.sha256] if archive.sha256 else [])
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
