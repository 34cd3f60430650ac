"""Inputs of datasets."""

from types import SimpleNamespace

import pytest

from pubmill.errors import PubmillError
from pubmill.stages import Graph
from pubmill.stages.dataset_jobs import SentenceDocuments


def test_made_up_examples_have_no_documents(demo_graph: Graph, full_graph: Graph) -> None:
    assert demo_graph.specs.datasets["bc5-chem"].copies
    wildcards = SimpleNamespace(dataset="bc5-chem")
    with pytest.raises(PubmillError, match="bc5-chem: its spec names no `copies` with its documents"):
        demo_graph.stage(SentenceDocuments).inputs_of(wildcards)
    inputs = full_graph.stage(SentenceDocuments).inputs_of(wildcards)
    assert len(inputs["copies"]) == len(inputs["examples"]) == 3
    datasets = full_graph.specs.datasets
    known = [name for name in datasets if full_graph.datasets.has_copies(name)]
    assert known == ["bc5-chem", "bc5-disease", "ncbi-disease", "species-800"]
    for file in datasets["bc5-chem"].copies:
        assert full_graph.sources.checks(file.url) == ["--sha256", file.sha256]
