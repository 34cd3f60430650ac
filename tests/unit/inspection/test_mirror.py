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


@pytest.fixture(scope="module")
def targets(full_graph: Graph) -> Graph:
    return full_graph


def test_jobs_say_what_is_needed(targets: Graph) -> None:
    jobs = [
        Job("fetch_files", {"source": "pubmed", "block": BLOCK}, True),
        Job("export_model", {"model": "bert-base-uncased"}, True),
        Job("export_model", {"model": "no-pretraining"}, True),
        Job("fetch_pmc", {"source": "pmc", "block": "PMC00000xxxx+49"}, True),
        Job("score", {}, True),
    ]
    found = required_files(jobs, targets)
    assert (found.urls[f"https://{PUBMED}"], found.urls[f"https://{PUBMED}.md5"]) == (["--md5-beside"], [])
    assert [(one.model, one.id) for one in found.models] == [
        ("bert-base-uncased", "google-bert/bert-base-uncased")
    ]
    assert found.pmc == {"pmc": 50}
    lines = list(listed(found))
    assert len(lines) == 2 * 14 + 2 and "google-bert/bert-base-uncased revision" in lines[-2]


def test_the_commit_of_unpinned_weights_is_needed_too(targets: Graph) -> None:
    jobs = [Job(rule, {"model": "biobert-large"}, True) for rule in ("pin_weights", "export_model")]
    jobs += [Job("pin_weights", {"model": "bio-lm-base"}, True)]  # of an archive, which is a download
    found = required_files(jobs, targets)
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
    wanted = RequiredFiles(
        {
            "https://a.org/b/1": ["--git-blob", "ab"],
            f"https://{PUBMED}": ["--md5-beside"],
            "https://a.org/gone": [],
        }
    )
    assert fetch_all(wanted, tmp_path) == ["https://a.org/gone: gone"]
    assert asked[0] == ("https://a.org/b/1", {"md5_beside": False, "git_blob": "ab"})
    assert asked[1][1] == {"md5_beside": True}
    assert (tmp_path / "a.org/b/1").read_text() == "x"


def test_a_file_that_is_there_is_checked_and_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "a.org").mkdir()
    (tmp_path / "a.org/1").write_text("x")
    right = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    assert fetch_all(RequiredFiles({"https://a.org/1": ["--sha256", right]}), tmp_path) == []
    (reported,) = fetch_all(RequiredFiles({"https://a.org/1": ["--sha256", "0" * 64]}), tmp_path)
    assert "https://a.org/1" in reported and right in reported


def test_articles_of_pmc_are_reported_as_not_fetched(tmp_path: Path) -> None:
    """The folder of the mirror, and those above it, are made."""
    (reported,) = fetch_all(RequiredFiles(pmc={"pmc": 1300}), tmp_path / "new/mirror")
    assert "1,300 shards" in reported and (tmp_path / "new/mirror").is_dir()


def test_a_study_that_needs_nothing_more_has_a_message_and_no_empty_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pubmill.planning.plan.jobs_of_study", lambda checkout, config: [])
    ended = run_verb("mirror", "demo")
    assert ended == (0, "", "pubmill: study demo needs nothing more from the network\n")


def test_a_filled_mirror_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("fetch_files", {"source": "pubmed", "block": "pubmed26n1335+1"}, True)
    monkeypatch.setattr("pubmill.planning.plan.jobs_of_study", lambda checkout, config: [job])
    monkeypatch.setattr(mirroring, "download", lambda url, output, **checks: output.touch())
    said = run_verb("mirror", "demo", "--fetch", tmp_path).stderr.splitlines()
    assert said[-1] == f"pubmill: {tmp_path} has all that study demo needs: 4 files, 0 models"
