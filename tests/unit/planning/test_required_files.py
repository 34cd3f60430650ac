"""Files and models that jobs fetch, and which of them cannot be reached."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import requests
from huggingface_hub.constants import HF_HUB_CACHE

from pubmill.planning import required_files as module
from pubmill.planning.plan import Job
from pubmill.planning.required_files import HubModel, RequiredFiles, out_of_reach, required_files
from pubmill.recipes.corpora import FetchRecipe
from pubmill.recipes.models import PretrainedWeights, ReleasedWeights
from pubmill.stages import Graph
from pubmill.storage.release_pins import HUB, commit_url

PINNED, OPEN = HubModel("a", "group/a", "1" * 40), HubModel("b", "group/b", None)
WEIGHTS_OF = {
    "pinned": ReleasedWeights(id="group/a", revision="1" * 40),
    "found": ReleasedWeights(id="group/b", revision=None),
    "open": ReleasedWeights(id="group/c", revision=None), "own": PretrainedWeights(recipe="r", step=1),
}  # fmt: skip


def graph() -> Graph:
    """What the graph knows of some downloads and models."""
    checks = {"https://h/b.gz": ["--sha256", "0"]}
    fetched = SimpleNamespace(
        recipe_of=lambda block: FetchRecipe(urls=("https://h/a.gz",), md5_beside=True),
        shards=lambda block: ["PMC00000xxxx", "PMC00001xxxx", "PMC00002xxxx"],
    )
    models = SimpleNamespace(
        weights=WEIGHTS_OF.__getitem__, pin=lambda model: {"revision": "2" * 40} if model == "found" else {},
        release=lambda model: {"kind": "hub" if model == "open" else "archive", "id": "group/c"},
    )  # fmt: skip
    sources = SimpleNamespace(checks=checks.__getitem__)
    return cast(Graph, SimpleNamespace(sources=sources, models=models, stage=lambda kind: fetched))


def test_jobs_fetch_files_models_and_shards_of_pmc() -> None:
    jobs = [
        Job("download", {"path": "h/b.gz"}, True),
        Job("fetch_files", {"source": "pubmed", "block": "a"}, True),
        Job("fetch_pmc", {"source": "pmc", "block": "PMC00000xxxx+2"}, True),
        *(Job("export_model", {"model": name}, True) for name in ("pinned", "own", "open", "found")),
        *(Job("pin_weights", {"model": name}, True) for name in ("open", "archived")), Job("score", {}, True),
    ]  # fmt: skip
    found = required_files(jobs, graph())
    assert found.urls == {
        "https://h/a.gz": ["--md5-beside"], "https://h/a.gz.md5": [], "https://h/b.gz": ["--sha256", "0"],
        commit_url("group/c"): [],
    }  # fmt: skip
    assert list(found.urls) == sorted(found.urls) and found.pmc == {"pmc": 3}
    assert found.models == [
        HubModel("found", "group/b", "2" * 40), HubModel("open", "group/c", None),
        HubModel("pinned", "group/a", "1" * 40),
    ]  # fmt: skip


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Hosts that answer; no model is in the cache."""
    hosts: set[str] = set()

    def head(url: str, timeout: Any) -> None:
        if url.split("/")[2] not in hosts:
            raise requests.ReadTimeout if url.startswith("https://h/") else requests.ConnectionError

    monkeypatch.setattr(requests, "head", head)
    monkeypatch.setattr(module, "is_cached", lambda model: model.model == "cached")
    return hosts


def test_nothing_is_in_reach_where_no_host_answers(answering: set[str]) -> None:
    wanted = RequiredFiles(urls={"https://h/a": [], "https://i/b": []}, models=[PINNED, OPEN])
    assert out_of_reach(wanted, None) == [
        "https://h/a: no network", "https://i/b: no network",
        f"{HUB}/group/a at {'1' * 40}: no network, and not in {HF_HUB_CACHE}",
        f"{HUB}/group/b at its newest commit: no network, and not in {HF_HUB_CACHE}",
    ]  # fmt: skip
    answering.add("i")
    assert out_of_reach(wanted, None) == [], "the jobs of one silent host fail alone"


def test_without_files_to_fetch_no_host_is_asked(answering: set[str]) -> None:
    assert out_of_reach(RequiredFiles(models=[HubModel("cached", "g/c", None)]), None) == []
    assert len(out_of_reach(RequiredFiles(models=[PINNED]), None)) == 1
    answering.add(HUB.split("/")[2])
    assert out_of_reach(RequiredFiles(models=[PINNED]), None) == []


def test_a_mirror_must_have_the_files_and_the_hub_the_models(answering: set[str], tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    (tmp_path / "h/a").touch()
    wanted = RequiredFiles(urls={"https://h/a": [], "https://i/b": []}, models=[PINNED])
    lacking = f"https://i/b: expected the file {tmp_path}/i/b"
    model = f"{HUB}/group/a at {'1' * 40}: no network, and not in {HF_HUB_CACHE}"
    assert out_of_reach(wanted, str(tmp_path)) == [lacking, model]
    assert out_of_reach(RequiredFiles(urls=wanted.urls), str(tmp_path)) == [lacking]
