"""Files from the network and models of the hub that a study needs, and which of them cannot be reached."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import huggingface_hub
import requests
from huggingface_hub.constants import HF_HUB_CACHE

from pubmill.planning.plan import Job
from pubmill.recipes.models import ReleasedWeights
from pubmill.stages import Graph
from pubmill.stages.source_jobs import FetchFiles, FetchPmc
from pubmill.storage.model_folders import CONFIG, PICKLED, WEIGHTS
from pubmill.storage.release_pins import HUB, commit_url, newest_commit
from pubmill.storage.sources import path_in_mirror

TIMEOUT = (5, 15)  # seconds to connect, seconds without a byte


class HubModel(NamedTuple):
    """A public model of the hub. `revision`: its commit; None: the newest, which is not known yet."""

    model: str
    id: str
    revision: str | None


@dataclass
class RequiredFiles:
    """Files and models that jobs fetch. `urls`: URL -> options of the job `download` that check it; `pmc`:
    source -> number of shards, as only the inventory of a PMC source names its articles."""

    urls: dict[str, list[str]] = field(default_factory=dict)
    models: list[HubModel] = field(default_factory=list)
    pmc: dict[str, int] = field(default_factory=dict)


def required_files(jobs: Iterable[Job], graph: Graph) -> RequiredFiles:
    """Return the files and models that these jobs fetch."""
    files = RequiredFiles()
    for job in jobs:
        if job.rule == "download":
            url = f"https://{job.wildcards['path']}"
            files.urls[url] = graph.sources.checks(url)
        elif job.rule == "fetch_files":
            recipe = graph.stage(FetchFiles).recipe_of(job.named_wildcards)
            files.urls |= dict.fromkeys(recipe.urls, ["--md5-beside"] if recipe.md5_beside else [])
            files.urls |= {f"{url}.md5": [] for url in recipe.urls if recipe.md5_beside}
        elif job.rule == "fetch_pmc":
            source = job.wildcards["source"]
            shards = graph.stage(FetchPmc).shards(job.named_wildcards)
            files.pmc[source] = files.pmc.get(source, 0) + len(shards)
        elif job.rule == "export_model":
            weights = graph.models.weights(job.wildcards["model"])
            if isinstance(weights, ReleasedWeights):
                pin = graph.models.pin(job.wildcards["model"])
                revision = weights.revision or pin.get("revision")
                files.models.append(HubModel(job.wildcards["model"], weights.id, revision))
        elif job.rule == "pin_weights":
            release = graph.models.release(job.wildcards["model"])
            files.urls |= {commit_url(release["id"]): []} if release["kind"] == "hub" else {}
    return RequiredFiles(dict(sorted(files.urls.items())), sorted(files.models), files.pmc)


def out_of_reach(wanted: RequiredFiles, mirror: str | None) -> list[str]:
    """Return one line for each file and model that cannot be reached: not in the mirror, or no host answers.
    If only some hosts are silent, the run starts: their jobs fail alone, and the others continue."""
    paths = {url: path_in_mirror(url, mirror) for url in wanted.urls}
    lacking = [f"{url}: expected the file {at}" for url, at in paths.items() if at and not at.is_file()]
    models = [model for model in wanted.models if not is_cached(at_commit(model, mirror))]
    hosts = {urlsplit(url).netloc for url in wanted.urls if mirror is None}
    hosts |= {urlsplit(HUB).netloc} if models else set()
    if not hosts:
        return lacking
    for host in sorted(hosts):  # any answer will do, also through the proxy of the environment
        with suppress(requests.ConnectionError, requests.Timeout):
            requests.head(f"https://{host}/", timeout=TIMEOUT)
            return lacking
    lacking += [f"{url}: no network" for url in wanted.urls if mirror is None]
    return lacking + [
        f"{HUB}/{one.id} at {one.revision or 'its newest commit'}: no network, and not in {HF_HUB_CACHE}"
        for one in models
    ]


def at_commit(model: HubModel, mirror: str | None) -> HubModel:
    """Return a model with its commit, if that is known or a mirror states it."""
    path = path_in_mirror(commit_url(model.id), mirror)
    if model.revision is None and path is not None and path.is_file():
        return model._replace(revision=newest_commit(model.id, mirror))
    return model


def is_cached(model: HubModel, cache: Path | None = None) -> bool:
    """Return whether the hub's cache has the model's configuration and weights at this revision."""
    if model.revision is None:
        return False
    find = partial(huggingface_hub.try_to_load_from_cache, model.id, cache_dir=cache, revision=model.revision)
    config, *weights = (isinstance(find(name), str) for name in (CONFIG, WEIGHTS, PICKLED))
    return config and any(weights)
