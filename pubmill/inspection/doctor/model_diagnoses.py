"""Doctor for models: where their weights come from, and whether those are available."""

from dataclasses import dataclass
from pathlib import Path

import huggingface_hub

from pubmill.recipes.models import (
    ArchivedWeights,
    LocalWeights,
    PipelineWeights,
    PretrainedWeights,
    ReleasedWeights,
    SuppliedWeights,
)
from pubmill.stages import Graph
from pubmill.stages.user_folders import how_to_bring
from pubmill.storage.release_pins import PINNED
from pubmill.storage.sources import path_in_mirror

WHAT = {"folder": "a folder", "spacy": "a spaCy pipeline", "predictions": "a folder of predictions"}
"""Kind of what users supply for a model -> its name in findings."""


@dataclass(frozen=True)
class ModelFinding:
    """State of one model; `available` is None if only the network may have it."""

    model: str
    source: str
    available: bool | None = True
    to_do: str | None = None

    @property
    def sound(self) -> bool:
        return self.available is not False


def examine_models(graph: Graph) -> list[ModelFinding]:
    """Examine every model in the study's tables of results."""
    return [_diagnose_model(name, graph) for name in graph.table_models.wanted()]


def _diagnose_model(name: str, graph: Graph) -> ModelFinding:
    weights = graph.models.weights(name)
    match weights:
        case ReleasedWeights() | ArchivedWeights():
            return _diagnose_release(name, weights, graph)
        case SuppliedWeights(local=None):
            return ModelFinding(name, f"asked while it runs: {weights.system.name}", None)
        case LocalWeights() | PipelineWeights() | SuppliedWeights():
            assert weights.local
            what = WHAT[weights.kind]
            if (folder := graph.folders.find(weights.local)) is not None and folder.is_dir():
                return ModelFinding(name, f"{what} of your own, {folder}")
            to_do = f"bring it: {how_to_bring(weights.local)}"
            return ModelFinding(name, f"{what} of your own", False, to_do)
    made = "pretrained here" if isinstance(weights, PretrainedWeights) else "random weights"
    return ModelFinding(name, f"{made}, recipe {weights.recipe}")


def _diagnose_release(name: str, weights: ReleasedWeights | ArchivedWeights, graph: Graph) -> ModelFinding:
    """Return the finding on released weights: at hand or still to fetch, and whether they are pinned."""
    pin = graph.models.pin(name)
    version = weights.version or pin.get(PINNED[weights.kind])
    state = f" at {version[:12]}" if version else ""
    if weights.version is None:
        note = f"the first download, {pin['found']}, is kept" if pin else "the first download will be kept"
        state += f", not pinned: {note}"
    if isinstance(weights, ArchivedWeights):
        return _diagnose_archive(name, weights.url, f"the archive {weights.url}{state}", graph)
    source = f"the hub's {weights.id}{state}"
    cached = version and huggingface_hub.try_to_load_from_cache(weights.id, "config.json", revision=version)
    if isinstance(cached, str) and cached:
        return ModelFinding(name, f"{source}, in the cache")
    to_do = "without network: put its files into a folder and set that in the model's spec"
    return ModelFinding(name, source, None, to_do)


def _diagnose_archive(name: str, url: str, source: str, graph: Graph) -> ModelFinding:
    mirrored = path_in_mirror(url, graph.study.mirror)
    if Path(graph.paths.source_of_url(url)).is_file() or (mirrored and mirrored.is_file()):
        return ModelFinding(name, f"{source}, in the results or the mirror")
    if mirrored:
        return ModelFinding(name, source, False, f"put it into the mirror as {mirrored}")
    return ModelFinding(name, source, None, "without network: use a mirror that has it")
