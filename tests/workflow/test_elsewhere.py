"""Runs without a network, and as a part of another workflow."""

import json
import shutil
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.storage.files import read_json, sha256
from tests.unit.finetuning.encoder_families import save_encoder
from tests.warm import Warm
from tests.workflow.conftest import ALONE, TABLE, Project, can_be_alone, ended
from tests.world.archives import tarball

pytestmark = pytest.mark.long

alone = pytest.mark.skipif(
    not can_be_alone(), reason="this system does not allow commands without a network (unshare)"
)


@alone
def test_with_a_mirror_everything_runs_without_a_network(finished: Project) -> None:
    """The fixture ran the project without a network."""
    assert finished.before == ALONE
    assert (finished.folder / TABLE).is_file()


@alone
def test_without_a_network_all_that_is_missing_is_named_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(project.folder / "hub"))
    config = (project.folder / "config.yaml").read_text()
    mirror = next(line.split()[1] for line in config.splitlines() if line.startswith("mirror:"))
    project.edit("config.yaml", f"mirror: {mirror}", "mirror: null")
    done = replace(project, before=ALONE).run(
        "results/demo/datasets/bc5-chem/card.json",
        "results/demo/models/bert-base-uncased/config.json",
        check=False,
    )
    assert done.returncode != 0
    reported = done.stderr.partition("files cannot be reached:")[2]
    for name in ("train.tsv", "devel.tsv", "test.tsv", "bert-base-uncased"):
        assert name in reported
    assert "(.venv/bin/pubmill mirror config.yaml --fetch FOLDER)" in reported
    assert not list((project.folder / "results").rglob("*.log"))


@alone
def test_a_model_of_the_hub_comes_from_its_cache(copy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a node without a network, to which the cache was copied."""
    revision = "0123456789abcdef0123456789abcdef01234567"
    kept = copy.folder / "results/demo/models/no-pretraining"
    shutil.copytree(kept, copy.folder / "hub/models--group--bert/snapshots" / revision)
    monkeypatch.setenv("HF_HUB_CACHE", str(copy.folder / "hub"))
    (copy.folder / "specs/models/cached-bert.yaml").write_text(
        "name: cached-bert\nlabel: Cached BERT\ncitation: none\nlowercase: true\n"
        f"released: {{id: group/bert, revision: {revision}}}\n"
    )
    with closing(Warm(ALONE)) as warm:  # libraries read the variable when they are imported
        replace(copy, python=warm.python).run("results/demo/models/cached-bert/config.json")
    for name in ("model.safetensors", "tokenizer.json"):
        ours = (copy.folder / "results/demo/models/cached-bert" / name).read_bytes()
        assert ours == (kept / name).read_bytes()


@pytest.mark.weekly
def test_weights_without_a_pin_keep_what_the_first_download_found(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a mirror: the hub's newest commit, and an archive without a hash, each of a tiny model."""
    model = save_encoder(tmp_path / "bert", "bert")
    first, second = "1" * 40, "2" * 40
    mirror, hub = tmp_path / "mirror", tmp_path / "hub"
    shutil.copytree(model, hub / "models--group--bert/snapshots" / first)
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))
    project = replace(project, python=sys.executable)  # the hub's library reads the variable when imported
    newest = mirror / "huggingface.co/api/models/group/bert/revision/main"
    archive = mirror / "example.org/bert.tar.gz"
    for path in (newest, archive):
        path.parent.mkdir(parents=True)
    newest.write_text(json.dumps({"sha": first}))
    packed = {f"a/b/{path.name}": path.read_bytes() for path in sorted(model.iterdir())}
    archive.write_bytes(tarball(packed))
    forms = {
        "newest": "{id: group/bert, revision: null}",
        "packed": "{url: 'https://example.org/bert.tar.gz', sha256: null}",
    }
    for name, form in forms.items():
        text = f"name: {name}\nlabel: X\ncitation: none\nlowercase: true\nreleased: {form}\n"
        (project.folder / f"specs/models/{name}.yaml").write_text(text)
    config, results = ("--config", f"mirror={mirror}"), project.folder / "results/demo"
    targets = [f"results/demo/models/{name}/config.json" for name in forms]
    project.run(*targets, *config)
    pins = {name: read_json(results / f"sources/released/{name}.json") for name in forms}
    assert (pins["newest"]["revision"], pins["packed"]["sha256"]) == (first, sha256(archive))
    for name, key in (("newest", "revision"), ("packed", "sha256")):
        assert (results / f"models/{name}/model.safetensors").read_bytes() == packed["a/b/model.safetensors"]
        assert pins[name][key] in (results / f"models/{name}/README.md").read_text()
    newest.write_text(json.dumps({"sha": second}))
    archive.write_bytes(tarball({**packed, "a/b/README.md": b"another"}))
    done = project.run(*targets, "--forceall", "--keep-going", *config, check=False)
    log = (results / "logs/download/released/packed.log").read_text()
    assert done.returncode != 0 and "https://example.org/bert.tar.gz has changed since" in log
    assert {name: read_json(results / f"sources/released/{name}.json") for name in forms} == pins
    assert first in (results / "models/newest/README.md").read_text()
    assert (results / "models/packed/config.json").is_file(), "the model that was made is kept"


def test_another_workflow_can_import_this_one(project: Project, tmp_path: Path, python: str) -> None:
    """The imported workflow keeps the paths of its results; its rules get a prefix."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "Snakefile").write_text(
        f"""
configfile: {str(project.folder / "config.yaml")!r}

module pubmill:
    snakefile: {str(project.folder / "Snakefile")!r}
    config: config

use rule * from pubmill as pubmill_*

rule mine:
    default_target: True
    input: "results/demo/datasets/bc5-chem/card.json"
    output: "mine.txt"
    shell: "wc -c < {{input}} > {{output}}"
"""
    )
    ended([python, "-m", "snakemake", "--cores", "2", "--quiet", "rules"], other)
    card = other / "results/demo/datasets/bc5-chem/card.json"
    assert int((other / "mine.txt").read_text()) == card.stat().st_size
