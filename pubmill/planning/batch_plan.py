"""Fine-tuning in a GPU's memory: in how many parts a GPU computes a batch of the longest inputs."""

from collections.abc import Iterable
from typing import NamedTuple

from pubmill.optimisers import OPTIMISERS
from pubmill.recipes.batch_memory import bytes_of_token, tokens_at_once
from pubmill.specs import RecipeWeights
from pubmill.stages import Graph, costs
from pubmill.stages.gpus import Gpus
from pubmill.storage.result_paths import RunKey


class LongestBatch(NamedTuple):
    """The largest batch of a protocol's search, with inputs of the maximum length, on models of one size.
    `length`: tokens of an input, None where it is the model's limit, which is not known yet."""

    protocol: str
    length: int | None
    inputs: int
    layers: int
    hidden: int
    parameters: int

    def parts(self, gpu: str, gpus: Gpus) -> int | None:
        """Return in how many parts, one after another, a GPU computes the batch; None if the model and a
        single input need more than its memory."""
        assert self.length is not None
        weights = gpus.weights[gpu]
        one = self.length * bytes_of_token(self.layers, self.hidden, weights)
        if one + OPTIMISERS["adamw"].training_bytes * self.parameters > gpus.memory[gpu]:
            return None
        at_once = tokens_at_once(gpus.memory[gpu], self.layers, self.hidden, weights) // self.length
        return -(-self.inputs // max(1, at_once))


def longest_batch(graph: Graph, run: RunKey) -> LongestBatch:
    """Return the largest batch that a run or its search computes, with inputs of `max_length`."""
    protocol, data = graph.specs.protocols[run.protocol], graph.specs.datasets[run.dataset]
    recipe, shape = graph.runs.recipe(run), costs.shape_of_model(graph, run.model)
    choosing = protocol.settings[run.setting].chosen_by or run.setting
    tried = protocol.grid(data, run.model, choosing).get("batch_size", ())
    if isinstance(graph.specs.models[run.model].weights, RecipeWeights):
        positions: int | None = costs.architecture_of(graph, run.model).max_positions
    else:
        positions = graph.models.configuration(run.model).get("max_position_embeddings")
    limits = [one for one in (recipe.get("max_length", 512), positions) if one is not None]
    length, inputs = min(limits, default=None), max([recipe.get("batch_size", 0), *tried])
    parameters = costs.parameters_of_model(graph, run.model)
    return LongestBatch(run.protocol, length, inputs, shape.layers, shape.hidden, parameters)


def divided(batches: Iterable[LongestBatch], gpus: Gpus) -> list[tuple[LongestBatch, list[int | None]]]:
    """Return the batches that some GPU cannot compute at once, each with its number of parts on every GPU. Of
    the batches of one protocol and size of models, only the one with most tokens counts."""
    largest: dict[tuple[object, ...], LongestBatch] = {}
    for one in sorted(batches, key=lambda one: one.inputs * (one.length or 0)):
        if one.length is not None:
            largest[one.protocol, one.layers, one.hidden, one.parameters] = one
    by_gpu = [(one, [one.parts(gpu, gpus) for gpu in gpus.memory]) for one in sorted(largest.values())]
    return [(one, parts) for one, parts in by_gpu if set(parts) - {1}]
