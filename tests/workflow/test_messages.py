"""Errors as users see them: a message instead of a traceback, and no partial output left behind."""

import gzip
import hashlib
import re
import shutil
from pathlib import Path

import pytest

from pubmill.storage.files import lock
from tests.workflow import planner
from tests.workflow.conftest import Project

CARD = "results/demo/datasets/bc5-chem/card.json"
SHARD = "results/demo/corpora/parsed/blocks/pubmed/pubmed26n0001+1.json"
PUBMED = "ftp.ncbi.nlm.nih.gov/pubmed/baseline"


@pytest.fixture
def mirror(project: Project, world: Path, tmp_path: Path) -> Path:
    """A separate mirror, which a test may damage."""
    folder = tmp_path / "mirror"
    shutil.copytree(world, folder)
    project.edit("config.yaml", f"mirror: {world}", f"mirror: {folder}")
    return folder


def said(project: Project, *targets: str) -> str:
    done = project.run(*targets, check=False)
    assert done.returncode != 0
    text = done.stdout + done.stderr
    assert "Traceback" not in text
    assert not any((project.folder / target).exists() for target in targets)
    return text


def test_misspelt_keys_are_reported_before_anything_runs(project: Project) -> None:
    there = "batch_size: 32\n      steps: 40\n      recompute_activations: false\n    checkpoints: [20, 40]"
    project.edit("specs/scales/demo.yaml", there, there.replace("batch_size", "bacth_size"))
    project.edit("specs/models/no-pretraining.yaml", "lowercase: true", "lowercase: true\nlowercase: true")
    text = said(project, CARD)
    assert "recipe.bacth_size: unknown key" in text and "specs/scales/demo.yaml:" in text
    assert "duplicate key 'lowercase', first at specs/models/no-pretraining.yaml:" in text
    assert not (project.folder / "results").exists()


def test_a_key_twice_in_a_study_is_reported(project: Project) -> None:
    """Snakemake itself uses the last of them."""
    (project.folder / "mine.yaml").write_text("title: mine\nmodels: [a]\nmodels: [b]\n")
    done = project.run(CARD, "-n", "--configfile", "mine.yaml", check=False)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in text
    assert "/mine.yaml:3: duplicate key 'models', first at " in text and "/mine.yaml:2; remove one" in text


def test_every_faulty_file_is_reported_and_leaves_no_result(project: Project, mirror: Path) -> None:
    """One that has changed, one that is absent, and one that looks as if NCBI had published it: its md5 is
    right, its content is broken."""
    path = mirror / PUBMED / "pubmed26n0001.xml.gz"
    xml = gzip.decompress(path.read_bytes()).replace(b"</ArticleTitle>", b"</ArticleTitel>", 1)
    path.write_bytes(gzip.compress(xml))
    md5 = hashlib.md5(path.read_bytes()).hexdigest()
    path.with_name(path.name + ".md5").write_text(f"MD5({path.name})= {md5}\n")
    changed, absent = (next(mirror.rglob(f"BC5CDR-chem-IOB/{name}.tsv")) for name in ("train", "test"))
    changed.write_text(changed.read_text() + "\n")
    absent.unlink()
    assert f"expected the file {absent}, which does not exist" in said(project, CARD)
    absent.write_text("")
    text = said(project, CARD, SHARD)
    assert "train.tsv: not the expected file" in text and "sha256: expected" in text
    assert "malformed XML" in text and "PMID" in text


@pytest.mark.long
def test_a_model_of_ones_own_outlives_wrong_folders(project: Project, tmp_path: Path) -> None:
    """A misspelt folder is found before any job, so Snakemake deletes nothing; a damaged one is found only by
    the export, and the model that this job was to replace stays."""
    (project.folder / "specs/models/mine.yaml").write_text(
        "name: mine\nlowercase: true\nweights: {kind: folder, local: mine}\ntables: [gu2020/table06]\n"
    )
    model, theirs = project.folder / "results/demo/models/mine", tmp_path / "theirs"
    files = [model / name for name in ("config.json", "model.safetensors", "tokenizer.json", "README.md")]
    model.mkdir(parents=True)
    for path in files:
        path.write_text("good")
    target = ("results/demo/models/mine/config.json", "--forcerun", "take_model", "--config")
    done = project.run("-n", *target, f'local_files={{"mine": "{theirs}"}}', check=False)
    assert done.returncode and "Traceback" not in done.stdout + done.stderr
    assert f"model mine: {theirs} (local_files.mine) does not exist" in done.stderr
    theirs.mkdir()
    (theirs / "config.json").write_text('{"model_type": "bert"}')
    (theirs / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngene\n")
    (theirs / "model.safetensors").write_text("{}")
    done = project.run(*target, f'local_files={{"mine": "{theirs}"}}', check=False)
    assert done.returncode and "mine: model.safetensors is damaged" in done.stderr
    assert done.stderr.count("left out of the tables: mine") == 1
    assert [path.read_text() for path in files] == ["good"] * len(files)


def test_an_unreachable_host_is_reported(
    project: Project, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.edit("config.yaml", f"mirror: {mirror}", "mirror: null")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    path = next(mirror.rglob("BC5CDR-chem-IOB/test.tsv")).relative_to(mirror)
    text = said(project, f"results/demo/sources/{path}")
    assert f"https://{path}" in text and "set `mirror:`" in text


def message(text: str) -> str:
    """Return the message, which must be the only text after Snakemake's heading."""
    assert not any(word in text for word in ("Traceback", "Exception", "WorkflowError", 'File "', "Error in"))
    _, *reported = text.split("pubmill: error: ")
    assert len(reported) == 1, text
    return reported[0].strip()


def test_a_name_of_the_configuration_is_reported_with_the_nearest_alone(project: Project) -> None:
    reported = message(said(project, "-n", CARD, "--config", "models=[pubmedbert-bsae]"))
    assert reported.startswith(
        "configuration: models: there is no model 'pubmedbert-bsae'; the nearest: pubmedbert-base, "
    )
    assert len(reported) < 250


def test_a_model_without_its_folder_is_reported_plainly(project: Project) -> None:
    (project.folder / "specs/models/own.yaml").write_text(
        "name: own\nlabel: Own\nlowercase: true\nweights: {kind: folder, local: my-bert}\n"
    )
    target = "results/demo/runs/blurb/own/bc5-chem/standard/final/runs.json"
    fault = "model own needs files of your own: set local_files: {my-bert: /path/to/folder}"
    assert message(said(project, "-n", target)).startswith(fault)
    with pytest.raises(AssertionError, match=f"^{re.escape(fault)}"):
        planner.planned(project.python, project.folder, target)


def test_another_run_at_work_is_reported_plainly(project: Project) -> None:
    with lock(project.folder / "results/demo/.lock"):
        reported = message(said(project, CARD))
    assert (
        reported.startswith("another process is at work here and holds results/demo/.lock.")
        and "\n" not in reported
    )
