"""Files that a study needs, those that cannot be reached, and filling a mirror. Uses no network."""

from pathlib import Path
from typing import Any

import pytest
import requests

from pubmill.errors import PubmillError
from pubmill.inspection.mirror import fetching as mirroring
from pubmill.inspection.mirror.fetching import MODELS, fetch_all, listed
from pubmill.planning import required_files as module
from pubmill.planning.plan import Job
from pubmill.planning.required_files import HubModel, RequiredFiles, out_of_reach, required_files
from pubmill.stages import Graph
from pubmill.storage.release_pins import commit_url
from tests.unit.programs import run_verb

PUBMED = "ftp.ncbi.nlm.nih.gov/pubmed/updatefiles/pubmed26n1514.xml.gz"
BLOCK = "pubmed26n1501+13"
MODEL = HubModel("bert", "who/bert", "0" * 40)


def test_the_commit_of_unpinned_weights_is_needed_too(full_graph: Graph) -> None:
    jobs = [Job(rule, {"model": "biobert-large"}, True) for rule in ("pin_weights", "export_model")]
    jobs += [Job("pin_weights", {"model": "bio-lm-base"}, True)]  # of an archive, which is a download
    found = required_files(jobs, full_graph)
    (model,) = found.models
    assert list(found.urls) == [commit_url(model.id)] and model.revision is None
    assert any(line.endswith("revision newest (model biobert-large)") for line in listed(found))


def test_a_mirror_states_the_commit_of_unpinned_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(url: str, timeout: Any) -> None:
        raise requests.ConnectionError

    monkeypatch.setattr(requests, "head", silent)
    model, asked = MODEL._replace(revision=None), []
    assert not module.is_cached(model)
    answer = tmp_path / commit_url(model.id).removeprefix("https://")
    wanted = RequiredFiles({commit_url(model.id): []}, [model])
    (url, lacking) = out_of_reach(wanted, str(tmp_path))
    assert str(answer) in url and "at its newest commit: no network" in lacking
    assert (
        f"{model.id}: its newest commit is not known" in fetch_all(RequiredFiles(models=[model]), tmp_path)[0]
    )
    answer.parent.mkdir(parents=True)
    answer.write_text(f'{{"sha": "{MODEL.revision}"}}')
    snapshot = tmp_path / MODELS / "models--who--bert/snapshots" / str(MODEL.revision)

    def download(name: str, **options: Any) -> None:
        asked.append((name, options["revision"]))
        snapshot.mkdir(parents=True)
        for file in ("config.json", "pytorch_model.bin"):
            (snapshot / file).touch()

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert fetch_all(wanted, tmp_path) == fetch_all(wanted, tmp_path) == []
    assert asked == [(model.id, MODEL.revision)]


def test_a_cached_model_has_its_configuration_and_weights(tmp_path: Path) -> None:
    folder = tmp_path / "models--who--bert/snapshots" / str(MODEL.revision)
    folder.mkdir(parents=True)
    assert not module.is_cached(MODEL, tmp_path)
    for name, cached in (("config.json", False), ("pytorch_model.bin", True), ("model.safetensors", True)):
        (folder / name).touch()
        assert module.is_cached(MODEL, tmp_path) is cached
    (folder / "config.json").unlink()
    assert not module.is_cached(MODEL, tmp_path)


def test_a_mirror_is_filled_with_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    def download(url: str, output: Path, **checks: Any) -> None:
        asked.append((url, checks))
        if "gone" in url:
            raise PubmillError(f"{url}: gone")
        output.write_text("x", encoding="utf-8")

    monkeypatch.setattr(mirroring, "download", download)
    checks = {"https://a.org/b/1": ["--git-blob", "ab"], f"https://{PUBMED}": ["--md5-beside"]}
    wanted = RequiredFiles(checks | {"https://a.org/gone": []}, pmc={"pmc": 1300})
    gone, articles = fetch_all(wanted, tmp_path / "new/mirror")
    assert gone == "https://a.org/gone: gone" and "1,300 shards" in articles
    assert asked[0] == ("https://a.org/b/1", {"md5_beside": False, "git_blob": "ab"})
    assert asked[1][1] == {"md5_beside": True}
    assert (tmp_path / "new/mirror/a.org/b/1").read_text() == "x"


def test_a_file_that_is_there_is_checked_and_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "a.org").mkdir()
    (tmp_path / "a.org/1").write_text("x")
    right = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert fetch_all(RequiredFiles({"https://a.org/1": ["--sha256", right]}), tmp_path) == []
    (reported,) = fetch_all(RequiredFiles({"https://a.org/1": ["--sha256", "0" * 64]}), tmp_path)
    assert "https://a.org/1" in reported and right in reported


def test_a_study_that_needs_nothing_more_and_a_filled_mirror_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Job] = []
    monkeypatch.setattr("pubmill.planning.plan.jobs_of_study", lambda checkout, config: jobs)
    ended = run_verb("mirror", "demo")
    assert ended == (0, "", "pubmill: study demo needs nothing more from the network\n")
    jobs.append(Job("fetch_files", {"source": "pubmed", "block": "pubmed26n1335+1"}, True))
    monkeypatch.setattr(mirroring, "download", lambda url, output, **checks: output.touch())
    said = run_verb("mirror", "demo", "--fetch", tmp_path).stderr.splitlines()
    assert said[-1] == f"pubmill: {tmp_path} has all that study demo needs: 4 files, 0 models"
