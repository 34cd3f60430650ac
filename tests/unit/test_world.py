"""The miniature world: the same everywhere, in the original formats, with what tests rely on."""

import gzip
import io
import runpy
import sys
import tarfile
import zipfile
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pubmill.stages.availability import local_names
from tests.conftest import ROOT
from tests.dataset_specs import spec_of
from tests.world import citations, dataset_parts, facts, medline, overlay, write_world
from tests.world.__main__ import HEADING, written_out
from tests.world.part import CANARY

Trees = dict[str, Any]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    assert write_world(folder)
    return folder


@pytest.fixture(scope="module")
def pubmed(world: Path) -> Trees:
    paths = sorted((world / medline.FOLDER).rglob("*.xml.gz"))
    return {path.name.split(".")[0]: etree.fromstring(gzip.decompress(path.read_bytes())) for path in paths}


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): md5(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def pmids(tree: Any) -> list[str]:
    return [str(pmid) for pmid in tree.xpath("PubmedArticle/MedlineCitation/PMID/text()")]


def abstract(article: Any) -> str:
    return " ".join("".join(text.itertext()) for text in article.iterfind(".//Abstract/AbstractText"))


def test_an_older_or_interrupted_world_is_written_anew_with_the_same_bytes(
    world: Path, tmp_path: Path
) -> None:
    for path in contents(world):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    (tmp_path / "world.json").write_text('{"version": 0}')
    assert write_world(tmp_path)
    assert contents(tmp_path) == contents(world)


def test_md5_files_are_in_the_form_of_ncbi(world: Path) -> None:
    packed = sorted((world / medline.FOLDER).rglob("*.xml.gz"))
    assert [path.name for path in packed] == [
        f"{name}.xml.gz" for name in citations.BASELINE | citations.UPDATES
    ]
    for path in packed:
        line = path.with_name(f"{path.name}.md5").read_text()
        assert line == f"MD5({path.name})= {md5(path.read_bytes()).hexdigest()}\n"


def test_pubmed_counts_are_those_of_the_facts(pubmed: Trees) -> None:
    known = facts()["pubmed"]
    assert {name: len(pmids(tree)) for name, tree in pubmed.items()} == known["citations"]
    deleted = {name: len(tree.xpath("DeleteCitation/PMID")) for name, tree in pubmed.items()}
    assert deleted == known["deletions"]
    kept: dict[str, Any] = {}
    for tree in pubmed.values():
        kept |= dict(zip(pmids(tree), tree.iterfind("PubmedArticle"), strict=True))
        for pmid in tree.xpath("DeleteCitation/PMID/text()"):
            kept.pop(str(pmid), None)
    words = [len(abstract(article).split()) for article in kept.values()]
    assert len(kept) == known["latest"]
    assert sum(number == 0 for number in words) == known["without_abstract"]
    long = [number for number in words if number >= 128]
    assert {"documents": len(long), "words": sum(long)} == known["with_128_words"]


def test_the_demo_scale_has_this_worlds_hashes_and_counts(root: Path) -> None:
    written = (root / "specs/scales/demo-datasets.yaml").read_text()
    assert written == HEADING + written_out(overlay()), "write it anew: see python -m tests.world --help"


def test_licensed_files_carry_the_canary_and_public_ones_do_not() -> None:
    whole = dataset_parts()
    specs = [spec_of(name) for name in whole.expect]
    keys = {key for spec in specs if spec.access != "public" for key in local_names(spec)}
    assert len(keys) > 3
    for path, content in whole.files.items():
        held = any(CANARY.lower().encode() in text.lower() for text in texts_of(path, content))
        assert held == any(path.startswith(f"local/{key}/") for key in keys), path


def texts_of(path: str, content: bytes) -> list[bytes]:
    """The content of a file, or of an archive's members."""
    if path.endswith((".tar.gz", ".tgz")):
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            return [tar.extractfile(member).read() for member in tar if member.isfile()]  # type: ignore[union-attr]
    if path.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            return [packed.read(name) for name in packed.namelist()]
    return [content]


def test_a_folder_that_cannot_be_written_ends_the_program_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "argv", ["tests.world", str(tmp_path / "file/mirror")])
    with pytest.raises(SystemExit, match="file/mirror.*: Not a directory. Correct this"):
        runpy.run_path(str(ROOT / "tests/world/__main__.py"), run_name="__main__")
