"""What a user reads when something is wrong: the message, not a traceback, and nothing half-done left."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.workflow.conftest import Project

CARD = "results/demo/datasets/bc5-chem/card.json"
SHARD = "results/demo/corpora/parsed/pubmed/pubmed26n0001.parquet"
PUBMED = "ftp.ncbi.nlm.nih.gov/pubmed/baseline"


@pytest.fixture
def mirror(project: Project, world: Path, tmp_path: Path) -> Path:
    """A mirror of its own, which a test may spoil."""
    folder = tmp_path / "mirror"
    shutil.copytree(world, folder)
    project.edit("config.yaml", f"mirror: {world}", f"mirror: {folder}")
    return folder


def said(project: Project, *targets: str) -> str:
    """What a run that must fail says."""
    done = project.run(*targets, check=False)
    assert done.returncode != 0
    text = done.stdout + done.stderr
    assert "Traceback" not in text
    for target in targets:
        assert not (project.folder / target).exists()
    return text


def test_misspelt_keys_are_told_before_anything_runs(project: Project) -> None:
    there = "batch_size: 32\n      steps: 40\n      recompute_activations: false\n    checkpoints: [20, 40]"
    project.edit("specs/scales/demo.yaml", there, there.replace("batch_size", "bacth_size"))
    project.edit("specs/models/no-pretraining.yaml", "lowercase: true", "lowercase: true\nlowercase: true")
    text = said(project, CARD)
    assert "recipe.bacth_size: unknown key" in text and "specs/scales/demo.yaml:" in text
    assert "duplicate key 'lowercase', first at specs/models/no-pretraining.yaml:" in text
    assert not (project.folder / "results").exists()


def test_a_misspelt_setting_of_the_run_is_told(project: Project) -> None:
    project.edit("config.yaml", "results: results", "resutls: results")
    assert "resutls: unknown key" in said(project, CARD)


def test_a_key_twice_in_a_study_is_told(project: Project) -> None:
    """Snakemake itself takes the last."""
    (project.folder / "mine.yaml").write_text("title: mine\nmodels: [a]\nmodels: [b]\n")
    done = project.run(CARD, "-n", "--configfile", "mine.yaml", check=False)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in text
    assert "/mine.yaml:3: duplicate key 'models', first at " in text and "/mine.yaml:2; remove one" in text


def test_counts_that_differ_are_told_with_their_difference(project: Project) -> None:
    pinned = "specs/scales/demo-datasets.yaml"
    text = (project.folder / pinned).read_text()
    line = next(line for line in text.splitlines() if "mentions:" in line)
    count = line.split("mentions: ")[1].split("}")[0].split(",")[0]
    project.edit(pinned, line, line.replace(f"mentions: {count}", f"mentions: {int(count) + 3}"))
    text = said(project, CARD)
    assert f"mentions: expected {int(count) + 3}, found {count}, difference -3" in text


def test_a_changed_dataset_file_is_told(project: Project, mirror: Path) -> None:
    path = next(mirror.rglob("BC5CDR-chem-IOB/train.tsv"))
    path.write_text(path.read_text() + "\n")
    text = said(project, CARD)
    assert "train.tsv: not the expected file" in text and "sha256: expected" in text


def test_a_truncated_pubmed_file_is_told(project: Project, mirror: Path) -> None:
    path = mirror / PUBMED / "pubmed26n0001.xml.gz"
    path.write_bytes(path.read_bytes()[:-100])
    text = said(project, SHARD)
    assert "pubmed26n0001.xml.gz: not the expected file" in text and "md5: expected" in text


def test_malformed_xml_behind_a_right_checksum_is_told(project: Project, mirror: Path) -> None:
    """As NCBI would have published it: the md5 agrees, the content is broken."""
    path = mirror / PUBMED / "pubmed26n0001.xml.gz"
    xml = gzip.decompress(path.read_bytes()).replace(b"</ArticleTitle>", b"</ArticleTitel>", 1)
    path.write_bytes(gzip.compress(xml))
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    path.with_name(path.name + ".md5").write_text(f"MD5({path.name})= {md5}\n")
    text = said(project, SHARD)
    assert "malformed XML" in text and "PMID" in text


def test_a_mirror_that_lacks_a_file_is_told(project: Project, mirror: Path) -> None:
    next(mirror.rglob("BC5CDR-chem-IOB/test.tsv")).unlink()
    text = said(project, CARD)
    assert f"expected the file {mirror}" in text and "test.tsv, which does not exist" in text


def test_what_a_mirror_lacks_is_left_out_of_tables_and_told(project: Project, mirror: Path) -> None:
    next(mirror.rglob("BC5CDR-chem-IOB/test.tsv")).unlink()
    table = "results/demo/tables/gu2020/table03"
    done = project.run(f"{table}.json")
    assert "left out of the tables: bc5-chem (the mirror lacks https://" in done.stderr
    cells = json.loads((project.folder / f"{table}.json").read_text())["cells"]
    assert cells["bc5-chem"]["blurb/test"]["value"] is None and cells["jnlpba"]["blurb/test"]["value"]
    assert "BC5CDR-chem-IOB/test.tsv" in cells["bc5-chem"]["blurb/test"]["reason"]
    assert str(mirror) not in (project.folder / f"{table}.html").read_text()
    assert project.planned(f"{table}.json") == {}


def test_an_unreachable_host_is_told(project: Project, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.edit("config.yaml", f"mirror: {mirror}", "mirror: null")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    path = next(mirror.rglob("BC5CDR-chem-IOB/test.tsv")).relative_to(mirror)
    text = said(project, f"results/demo/sources/{path}")
    assert f"https://{path}" in text and "set `mirror:`" in text
