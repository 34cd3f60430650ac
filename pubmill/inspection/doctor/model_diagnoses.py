"""Doctor for models: where their weights come from, and whether those are available."""

from dataclasses import dataclass

import huggingface_hub

from pubmill.graph import Graph
from pubmill.graph.user_folders import how_to_bring
from pubmill.recipes.models import LocalWeights, PipelineWeights, PretrainedWeights, ReleasedWeights


@dataclass(frozen=True)
class ModelFinding:
    """State of one model; `available` is None if only the hub may have it."""

    model: str
    source: str
    available: bool | None = True
    to_do: str | None = None

    @property
    def sound(self) -> bool:
        return self.available is not False


def examine_models(graph: Graph) -> list[ModelFinding]:
    """Examine every model in the study's tables of results."""
    return [_examine(name, graph) for name in graph.table_models.wanted()]


def _examine(name: str, graph: Graph) -> ModelFinding:
    weights = graph.models.weights(name)
    match weights:
        case ReleasedWeights():
            return _on_the_hub(name, weights.id, weights.revision)
        case LocalWeights() | PipelineWeights():
            what = "a folder" if isinstance(weights, LocalWeights) else "a spaCy pipeline"
            if (found := graph.folders.find(weights.local)) is not None and found.is_dir():
                return ModelFinding(name, f"{what} of your own, {found}")
            return ModelFinding(
                name, f"{what} of your own", False, f"bring it: {how_to_bring(weights.local)}"
            )
    made = "pretrained here" if isinstance(weights, PretrainedWeights) else "random weights"
    return ModelFinding(name, f"{made}, recipe {weights.recipe}")


def _on_the_hub(name: str, model: str, revision: str) -> ModelFinding:
    """Return the finding on a pinned revision: in the hub's cache, or still to fetch."""
    source = f"the hub's {model} at {revision[:12]}"
    if isinstance(huggingface_hub.try_to_load_from_cache(model, "config.json", revision=revision), str):
        return ModelFinding(name, f"{source}, in the cache")
    return ModelFinding(
        name, source, None, "without network: put its files into a folder and set that in the model's spec"
    )
