"""Doctor: whether a study's models are here, can be fetched or are still to be trained, and for how long."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub.constants import HF_HUB_OFFLINE

from pubmill.inspection.doctor.links import Links
from pubmill.planning.plan import hours, pretrainings
from pubmill.planning.plan_printing import shown
from pubmill.planning.required_files import HubModel, at_commit, is_cached
from pubmill.recipes import models
from pubmill.stages import Graph
from pubmill.stages.availability import how_to_bring
from pubmill.stages.gpus import Gpus
from pubmill.storage.model_folders import CONFIG
from pubmill.storage.release_pins import HUB, PINNED
from pubmill.storage.result_paths import STATE
from pubmill.storage.sources import path_in_mirror

WHAT = {"folder": "a folder", "spacy": "a spaCy pipeline", "predictions": "a folder of predictions"}
"""Kind of weights that users supply -> its name in findings."""
COMMON_GPU = "H100"
"""The GPU whose hours are shown where this machine has none that specs/gpus.yaml lists."""


@dataclass(frozen=True)
class ModelFinding:
    """State of one model, and where it is from; `available` is False if it cannot be had from here, None if
    it can be made or fetched."""

    model: str
    source: str
    state: str = "ready"
    available: bool | None = True
    to_do: str | None = None

    @property
    def sound(self) -> bool:
        return self.available is not False


ABSENT = ("NOT AVAILABLE", False)
FETCHED = ("to be fetched", None)


def hub_links(graph: Graph) -> list[str]:
    """Return the URLs of the configurations of the study's hub models that are not here."""
    if HF_HUB_OFFLINE:
        return []
    wanted = [name for name in graph.table_models.wanted() if not _is_made(graph, name)]
    needed = [graph.models.weights(name) for name in wanted if not _is_cached(graph, name)]
    return [_link(one) for one in needed if isinstance(one, models.ReleasedWeights)]


def _link(weights: models.ReleasedWeights) -> str:
    return f"{HUB}/{weights.id}/resolve/{weights.revision or 'main'}/{CONFIG}"


def _is_made(graph: Graph, model: str) -> bool:
    return Path(graph.paths.model(model, CONFIG)).is_file()


def _is_cached(graph: Graph, model: str) -> bool:
    weights = graph.models.weights(model)
    if not isinstance(weights, models.ReleasedWeights):
        return False
    revision = weights.revision or graph.models.pin(model).get("revision")
    return is_cached(at_commit(HubModel(model, weights.id, revision), graph.study.mirror))


def examine_models(graph: Graph, links: Links | None, gpus: Gpus, mirror: str) -> list[ModelFinding]:
    """Examine every model in the study's tables of results. `links`: those of `hub_links` among others, None
    if the network must not be used; `mirror`: the command that fetches models on another machine."""
    return [_diagnose(name, graph, links, gpus, mirror) for name in graph.table_models.wanted()]


def _diagnose(name: str, graph: Graph, links: Links | None, gpus: Gpus, mirror: str) -> ModelFinding:
    weights = graph.models.weights(name)
    match weights:
        case models.ReleasedWeights() | models.ArchivedWeights():
            return _diagnose_release(name, weights, graph, links, mirror)
        case models.SuppliedWeights(local=None):
            return ModelFinding(name, f"asked while it runs: {weights.system.name}", *FETCHED)
        case models.LocalWeights() | models.PipelineWeights() | models.SuppliedWeights():
            assert weights.local
            what = WHAT[weights.kind]
            if (folder := graph.folders.find(weights.local)) is not None and folder.is_dir():
                return ModelFinding(name, f"{what} of your own, {folder}")
            to_do = f"bring it: {how_to_bring(weights.local)}"
            return ModelFinding(name, f"{what} of your own", *ABSENT, to_do)
        case models.RandomWeights():
            return ModelFinding(name, f"random weights, recipe {weights.recipe}")
    source = f"pretrained here, recipe {weights.recipe}"
    steps = graph.models.last_steps([name])
    done = {}
    for recipe in steps:
        states = {
            step: graph.paths.checkpoint(recipe, step, STATE) for step in graph.pretrainings.steps(recipe)
        }
        done[recipe] = max((step for step, state in states.items() if Path(state).is_file()), default=0)
    trainings = [] if _is_made(graph, name) else pretrainings(graph, gpus, steps, done)
    if not trainings:
        return ModelFinding(name, source)
    needed = hours(trainings, gpus)
    here = next((gpu for gpu in gpus.peaks for name in gpus_here() if gpu in name), COMMON_GPU)
    gpu = here if here in needed else next(iter(needed))
    behind = f" and {len(trainings) - 1} before it" if len(trainings) > 1 else ""
    source += f"{behind}: {shown(needed[gpu])} hours of one {gpu}"
    return ModelFinding(name, source, "to be trained", None)


def gpus_here() -> list[str]:
    """Return the names of this machine's GPUs, from NVIDIA's driver, as loading torch takes seconds."""
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()


def _diagnose_release(
    name: str,
    weights: models.ReleasedWeights | models.ArchivedWeights,
    graph: Graph,
    links: Links | None,
    mirror: str,
) -> ModelFinding:
    """Return the finding on released weights: at hand or still to fetch, and whether they are pinned."""
    pin = graph.models.pin(name)
    version = weights.version or pin.get(PINNED[weights.kind])
    state = f" at {version[:12]}" if version else ""
    if weights.version is None:
        note = f"the first download, {pin['found']}, is kept" if pin else "the first download will be kept"
        state += f", not pinned: {note}"
    if isinstance(weights, models.ArchivedWeights):
        source, url = f"the archive {weights.url}{state}", weights.url
        mirrored = path_in_mirror(url, graph.study.mirror)
        here = Path(graph.paths.source_of_url(url)).is_file() or (mirrored and mirrored.is_file())
        where = "in the results or the mirror"
    else:
        source, url, mirrored = f"the hub's {weights.id}{state}", _link(weights), None
        here, where = _is_cached(graph, name), "in the cache"
    if _is_made(graph, name):
        return ModelFinding(name, f"{source}, in the results")
    if here:
        return ModelFinding(name, f"{source}, {where}")
    if mirrored:
        return ModelFinding(name, source, *ABSENT, f"put it into the mirror as {mirrored}")
    if links is None or not links.network or (url.startswith(HUB) and HF_HUB_OFFLINE):
        return ModelFinding(name, source, "NOT HERE", False, f"fetch on a machine with a network: {mirror}")
    if fault := links.dead.get(url):
        to_do = f"{url}: {fault}. Put its files into a folder, and set that in the model's spec"
        return ModelFinding(name, source, *ABSENT, to_do)
    return ModelFinding(name, source, *FETCHED)
