"""The miniature world: the same everywhere, in the original formats, with what tests rely on."""

import gzip
import io
import itertools
import re
import runpy
import sys
import tarfile
import zipfile
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pubmill.stages.table_datasets import local_names
from tests.conftest import ROOT
from tests.dataset_specs import spec_of
from tests.world import citations, dataset_parts, datasets, facts, medline, overlay, punkt, write_world
from tests.world.__main__ import HEADING, written_out
from tests.world.dice import Dice
from tests.world.language import AMBIGUOUS, PLAIN, TYPED, Token, running_text
from tests.world.lexicon import CHEMICAL, KINDS, make_lexicon
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


def test_chance_falls_the_same_way_in_every_python() -> None:
    dice = Dice(7)
    assert [dice.below(100) for _ in range(6)] == [32, 15, 65, 7, 53, 36]
    assert sorted(Dice(1).sample(range(5), 5)) == [0, 1, 2, 3, 4]


def test_a_world_of_this_version_is_left_alone(world: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in world.rglob("*")}
    assert not write_world(world)
    assert {path: path.stat().st_mtime_ns for path in world.rglob("*")} == before


def test_an_older_or_interrupted_world_is_written_anew_with_the_same_bytes(
    world: Path, tmp_path: Path
) -> None:
    for path in contents(world):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"")
    (tmp_path / "world.json").write_text('{"version": 0}')
    assert write_world(tmp_path)
    assert contents(tmp_path) == contents(world)


def test_no_name_is_given_twice_or_is_a_word_of_the_grammar() -> None:
    lexicon = make_lexicon(1)
    assert {kind: len(concepts) for kind, concepts in lexicon.items()} == KINDS
    concepts = [concept for kind in lexicon.values() for concept in kind]
    names = [name.lower() for concept in concepts for name in (concept.name, concept.abbreviation)]
    assert len(names) == len(set(names))
    templates = [*AMBIGUOUS, *PLAIN, *itertools.chain(*TYPED.values())]
    grammar = {word.lower() for template in templates for word in template.split()}
    assert not grammar & {concept.name for concept in concepts}


def test_the_ending_of_a_name_does_not_decide_its_kind() -> None:
    endings = {kind: {concept.name[-2:] for concept in names} for kind, names in make_lexicon(1).items()}
    assert all(found == endings[CHEMICAL] for found in endings.values())


def test_running_text_closes_the_gaps_at_punctuation() -> None:
    words = "Alpha - xol ( XOL ) , but not 0.05 .".split()
    assert running_text([Token(word) for word in words]) == "Alpha-xol (XOL), but not 0.05."


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


def test_revised_deleted_and_returned_pmids(pubmed: Trees) -> None:
    first, second, third, fourth = (set(pmids(tree)) for tree in pubmed.values())
    for name, revised in citations.REVISED.items():
        assert set(map(str, revised)) <= first & set(pmids(pubmed[name]))
    twice = set(citations.REVISED["pubmed26n1335"]) & set(citations.REVISED["pubmed26n1336"])
    assert len(twice) == 5
    assert citations.RETURNED in citations.DELETED["pubmed26n1335"]
    assert str(citations.RETURNED) in first & fourth
    assert str(90_001_401) in third
    assert "90009999" not in first | second | third | fourth
    kept = citations.latest(citations.make_citations(make_lexicon(1), 1))
    assert citations.RETURNED in kept
    assert not {90_000_201, 90_000_202, 90_000_204, 90_000_730, 90_001_401} & kept.keys()


def test_versions_of_a_pmid(pubmed: Trees) -> None:
    def versions(name: str, pmid: int) -> list[str]:
        path = f"PubmedArticle/MedlineCitation/PMID[text()='{pmid}']/@Version"
        return [str(version) for version in pubmed[name].xpath(path)]

    assert versions("pubmed26n0001", citations.SECOND_VERSION) == ["1"]
    assert versions("pubmed26n1335", citations.SECOND_VERSION) == ["2"]
    assert versions("pubmed26n0002", citations.BOTH_VERSIONS) == ["1", "2"]


def test_the_xml_has_what_parsers_stumble_over(pubmed: Trees) -> None:
    tree = pubmed["pubmed26n0001"]
    mathml = {"mml": "http://www.w3.org/1998/Math/MathML"}
    for path in (
        ".//AbstractText[@Label and @NlmCategory]",
        ".//AbstractText/i/b",
        ".//AbstractText/sup",
        ".//AbstractText/mml:math",
        ".//Language[text()='fre']",
        ".//VernacularTitle",
        ".//Article[not(Abstract)]",
    ):
        assert tree.xpath(path, namespaces=mathml), path
    outside = "".join(tree.xpath(".//OtherAbstract//text() | .//CopyrightInformation//text()"))
    assert citations.OTHER_ABSTRACT_WORD in outside
    assert citations.COPYRIGHT_WORD in outside
    inside = " ".join(abstract(article) for article in tree.iterfind("PubmedArticle"))
    assert citations.OTHER_ABSTRACT_WORD not in inside
    assert citations.COPYRIGHT_WORD not in inside
    assert "37 °C" in inside
    assert "(p < 0.0" in inside


def test_dataset_files_are_at_their_addresses_in_their_formats(world: Path) -> None:
    for dataset in datasets.DATASETS:
        place = "B|I" if dataset.label is None else f"B-{dataset.label}|I-{dataset.label}"
        line = re.compile(rf"[!-~]+\t(O|{place})|-DOCSTART- \d{{8}}|")
        for split, name in dataset.files.items():
            text = (world / dataset.folder / name).read_text(encoding="ascii")
            assert all(line.fullmatch(row) for row in text.split("\n")), (dataset.name, split)
            assert text.endswith("\n\n")
            assert ("-DOCSTART-" in text) == (dataset.name == "jnlpba")
            labels = re.findall(r"\t(.)|\n(\n)", text)
            legal = "".join(map("".join, labels)).replace("\n", "O")
            assert "OI" not in legal


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


def test_dataset_facts_are_counted_from_the_files(world: Path) -> None:
    known = dataset_parts().expect
    for dataset in datasets.DATASETS:
        for split, name in dataset.files.items():
            lines = (world / dataset.folder / name).read_text().split("\n")
            expect = known[dataset.name][split]
            assert expect["sentences"] == dataset.sentences[split]
            assert expect["tokens"] == sum("\t" in line for line in lines)
            assert expect["mentions"] == sum(line.partition("\t")[2].startswith("B") for line in lines)
            assert expect.get("documents", 0) == sum(line.startswith("-DOCSTART-") for line in lines)
            assert expect["mentions"] > 50


def test_datasets_hold_adjacent_and_many_word_mentions() -> None:
    text = "".join(datasets.dataset_files(make_lexicon(1), 1).values())
    assert re.search(r"\tB-GENE\n\S+\tB-GENE\n", text)
    assert re.search(r"\tB-Disease\n\S+\tI-Disease\n\S+\tI-Disease\n", text)
    assert re.search(r"\tB-Chemical\n-\tI-Chemical\n", text)
    assert re.search(r"\tB-Chemical\n\(\tO\n\S+\tB-Chemical\n\)\tO\n", text)


def test_most_entities_of_dev_and_test_are_not_in_train_but_in_the_corpus(world: Path, pubmed: Trees) -> None:
    corpus = " ".join(abstract(tree) for tree in pubmed.values()).lower()
    dataset = datasets.DATASETS[0]

    def heads(split: str) -> set[str]:
        text = (world / dataset.folder / dataset.files[split]).read_text()
        return {word.lower() for word in re.findall(r"(\S+)\tB-", text)} - {"alpha", "sodium"}

    unseen = heads("test") - heads("train")
    assert len(unseen) > 0.6 * len(heads("test"))
    assert all(word in corpus for word in unseen)


def test_punkt_parameters_are_tables_in_a_plain_archive() -> None:
    with zipfile.ZipFile(io.BytesIO(punkt.punkt_zip())) as archive:
        names = archive.namelist()
        assert [name.rpartition("/")[0] for name in names] == ["punkt_tab/english"] * 4
        table = archive.read("punkt_tab/english/ortho_context.tab").decode()
        assert all(re.fullmatch(r"\S+\t\d+", line) for line in table.split("\n"))


def test_a_folder_that_cannot_be_written_ends_the_program_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "argv", ["tests.world", str(tmp_path / "file/mirror")])
    with pytest.raises(SystemExit, match="file/mirror.*: Not a directory. Correct this"):
        runpy.run_path(str(ROOT / "tests/world/__main__.py"), run_name="__main__")
