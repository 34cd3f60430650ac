"""Inputs of datasets."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import Specs
from pubmill.stages import Graph
from pubmill.stages.dataset_jobs import SentenceDocuments

Made = Callable[..., Graph]


def test_made_up_examples_have_no_documents(graph_of: Made, demo_specs: Specs, full_specs: Specs) -> None:
    assert demo_specs.datasets["bc5-chem"].copies
    wildcards = SimpleNamespace(dataset="bc5-chem")
    with pytest.raises(PubmillError, match="bc5-chem: its spec names no `copies` with its documents"):
        graph_of(demo_specs).stage(SentenceDocuments).inputs_of(wildcards)
    graph = graph_of(full_specs)
    inputs = graph.stage(SentenceDocuments).inputs_of(wildcards)
    assert len(inputs["copies"]) == len(inputs["examples"]) == 3
    known = [name for name in full_specs.datasets if graph.datasets.has_copies(name)]
    assert known == ["bc5-chem", "bc5-disease", "ncbi-disease", "species-800"]
    for file in full_specs.datasets["bc5-chem"].copies:
        assert graph.sources.checks(file.url) == ["--sha256", file.sha256]
