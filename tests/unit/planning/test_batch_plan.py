"""Parts of the largest batches on GPUs: divisions computed by hand, and which length a plan assumes."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.planning.plan import LongestBatch, divided, longest_batch
from pubmill.stages import Graph
from pubmill.stages.gpus import Gpus, read_gpus
from pubmill.storage.result_paths import RunKey, paths_of_scale

GPUS = Gpus({}, {}, memory={"old": 16e9, "new": 40e9}, weights={"old": "float32", "new": "bfloat16"})
BASE = LongestBatch("p", 8_192, 16, 12, 768, 110_000_000)


def with_length(graph: Graph, length: int | None) -> Graph:
    protocol = graph.specs.protocols["sounack2025"]
    values = {**protocol.hyperparameters, "max_length": length}
    long = protocol.model_copy(update={"hyperparameters": values})
    protocols = {**graph.specs.protocols, "sounack2025": long}
    return Graph(graph.study, graph.specs.model_copy(update={"protocols": protocols}))


def test_activations_fill_half_of_the_memory() -> None:
    """20 GB / (52 x 768 x 12 bytes) are 41,733 tokens, 5 inputs; 8 GB / (104 x 768 x 12) 8,346 tokens, 1."""
    assert divided([BASE], GPUS) == [(BASE, [16, 4])]
    short = BASE._replace(length=128)
    assert divided([short], GPUS) == [] and divided([BASE, short], GPUS) == divided([BASE], GPUS)


def test_a_model_whose_single_input_needs_more_than_a_gpu_has_is_too_large() -> None:
    """104 x 4,096 x 12 bytes x 8,192 tokens are 42 GB; in bfloat16 21 GB, beside 20 bytes for each weight."""
    wide = BASE._replace(hidden=4_096, parameters=223_000_000)
    assert divided([wide], GPUS) == [(wide, [None, 16])]
    assert divided([wide._replace(parameters=2_000_000_000)], GPUS)[0][1] == [None, None]


@pytest.mark.parametrize(("length", "model", "expected"), [
    (None, "pubmedbert-base", 512), (8_192, "pubmedbert-base", 512), (128, "pubmedbert-base", 128),
    (None, "bioclinical-modernbert-base", 8_192), (8_192, "modernbert-base", 8_192),
    (None, "modernbert-base", None),
])  # fmt: skip
def test_the_length_is_the_recipes_or_the_models(
    full_graph: Graph, length: int | None, model: str, expected: int | None
) -> None:
    run = RunKey("sounack2025", model, "hoc@blurb", "standard")
    found = longest_batch(with_length(full_graph, length), run)
    assert (found.length, found.inputs) == (expected, 16)
    assert divided([found._replace(length=None)], GPUS) == []


def test_weights_that_are_here_say_their_sizes(full_graph: Graph, tmp_path: Path) -> None:
    graph = with_length(full_graph, None)
    graph.paths = paths_of_scale("full", str(tmp_path))
    path = Path(graph.paths.model("modernbert-base", "config.json"))
    path.parent.mkdir(parents=True)
    sizes: dict[str, Any] = {"num_hidden_layers": 22, "hidden_size": 768, "max_position_embeddings": 8_192}
    path.write_text(json.dumps(sizes), encoding="utf-8")
    found = longest_batch(graph, RunKey("sounack2025", "modernbert-base", "hoc@blurb", "standard"))
    assert (found.layers, found.hidden, found.length) == (22, 768, 8_192)


def test_the_gpus_of_the_project_have_a_memory(root: Path, tmp_path: Path) -> None:
    gpus = read_gpus(root / "specs", tmp_path / "none")
    assert gpus.memory["V100"] == 16e9 and gpus.weights["V100"] == "float32"
    assert gpus.memory.keys() == gpus.peaks.keys() and gpus.weights["H100"] == "bfloat16"
