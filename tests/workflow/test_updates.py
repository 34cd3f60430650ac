"""`pubmill update` on the miniature world: a day more, killed at any moment, equals a corpus from scratch."""

import gzip
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from hashlib import md5
from pathlib import Path

import pytest

from tests.waiting import patience
from tests.workflow.conftest import Project

CORPUS = "results/demo/corpora/pubmed-abstracts"
TOKENS = "results/demo/pretraining/tokens/pubmed-abstracts/pubmed-uncased"
TARGETS = [*(f"{CORPUS}/{name}" for name in ("stats.json", "contamination.json")), f"{TOKENS}/index.json"]
CONFIG = ["--cores", "2", "--config", "models=[pubmedbert-base]", "datasets=[hoc@blurb]"]
BEFORE, AFTER = "updatefiles: [26n1335]", "updatefiles: [26n1335-26n1336]"
SCALE = "specs/scales/demo.yaml"


@pytest.fixture
def mirror(world: Path, tmp_path: Path) -> Path:
    """The folder of updates in a mirror of this test."""
    shutil.copytree(world, tmp_path / "mirror")
    return tmp_path / "mirror/ftp.ncbi.nlm.nih.gov/pubmed/updatefiles"


@pytest.fixture
def yesterday(project: Project, world: Path, mirror: Path, tmp_path: Path) -> Project:
    """A project whose corpus was made before the last file of PubMed was there."""
    project.edit("config.yaml", f"mirror: {world}", f"mirror: {tmp_path / 'mirror'}")
    project.edit(SCALE, AFTER, BEFORE)
    said(project, "run")
    return project


def words(verb: str) -> list[str]:
    return [sys.executable, "-m", "pubmill.cli", verb, "demo", *TARGETS, *CONFIG]


def said(project: Project, verb: str, *more: str) -> str:
    command = [*words(verb), *more]
    done = subprocess.run(
        command, cwd=project.folder, text=True, capture_output=True, timeout=patience(600), check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def content(project: Project) -> dict[str, bytes]:
    files = [path for name in (CORPUS, TOKENS) for path in (project.folder / name).rglob("*")]
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def from_scratch(project: Project) -> dict[str, bytes]:
    for name in (CORPUS, TOKENS):
        shutil.rmtree(project.folder / name)
    shutil.rmtree(project.folder / ".snakemake")
    said(project, "run")
    return content(project)


@pytest.mark.long
def test_days_more_equal_a_build_of_the_last_day(yesterday: Project, mirror: Path) -> None:
    """The first day revises nothing, so that no other part changes; the second revises documents in all."""
    second = mirror / "pubmed26n1337.xml.gz"
    (mirror / "pubmed26n1336.xml.gz").rename(second)
    store(second, second.read_bytes())
    store(mirror / "pubmed26n1336.xml.gz", gzip.compress(b"<PubmedArticleSet></PubmedArticleSet>"))
    second.rename(tomorrow := mirror / "later")
    listed = said(yesterday, "update", "-n")
    assert "pubmed: 1 new file: updatefiles/pubmed26n1336.xml.gz" in listed
    assert BEFORE in (yesterday.folder / SCALE).read_text()
    parts = {path: path.stat().st_mtime_ns for path in (yesterday.folder / CORPUS).glob("part-*")}
    shown = said(yesterday, "update")
    assert f"{SCALE} names the new files" in shown and AFTER in (yesterday.folder / SCALE).read_text()
    assert re.findall(r"Selecting documents of pubmed-abstracts, part (\d+)", shown) == ["0003"]
    assert {path: path.stat().st_mtime_ns for path in parts} == parts
    [log] = (yesterday.folder / "results/demo/logs").rglob("*pubmed-abstracts/pubmed-uncased*.log")
    assert "1 of 4 parts encoded" in log.read_text()

    tomorrow.rename(second)
    shown = said(yesterday, "update")
    counts = dict(reversed(one) for one in re.findall(r"^  (\d+) (\w+): pmid:", shown, re.MULTILINE))
    assert counts == {"new": "80", "reappeared": "1", "revised": "10", "deleted": "3"}
    assert "nanobind" not in shown
    assert not (yesterday.folder / ".snakemake/pubmill-update.json").exists()
    again = said(yesterday, "update")
    assert "0 new files" in again and again.count("Nothing to be done") == 3
    updated = content(yesterday)
    assert updated == from_scratch(yesterday)


def store(path: Path, packed: bytes) -> None:
    """Write a file of PubMed and its md5."""
    path.write_bytes(packed)
    path.with_name(f"{path.name}.md5").write_text(f"MD5({path.name})= {md5(packed).hexdigest()}\n")


@pytest.mark.long
@pytest.mark.weekly
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_update_that_is_killed_can_be_run_again(yesterday: Project, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(4):
        process = subprocess.Popen(
            words("update"), cwd=yesterday.folder, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(dice.uniform(1.5, 12))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    said(yesterday, "update")
    updated = content(yesterday)
    assert updated == from_scratch(yesterday)
