"""Inputs of datasets."""

from collections.abc import Callable

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import Specs
from pubmill.stages import Graph

Made = Callable[..., Graph]


def test_made_up_examples_have_no_identifiers(graph_of: Made, demo_specs: Specs, full_specs: Specs) -> None:
    assert demo_specs.datasets["bc5-chem"].concepts
    with pytest.raises(PubmillError, match="bc5-chem has no identifiers: its spec names no files"):
        graph_of(demo_specs).datasets.concept_inputs("bc5-chem")
    graph = graph_of(full_specs)
    inputs = graph.datasets.concept_inputs("bc5-chem")
    assert len(inputs["copies"]) == len(inputs["examples"]) == 3
    known = [name for name in full_specs.datasets if graph.datasets.has_concepts(name)]
    assert known == ["bc5-chem", "bc5-disease", "linnaeus", "ncbi-disease", "species-800"]
    for file in full_specs.datasets["bc5-chem"].concepts.files:  # type: ignore[union-attr]
        assert graph.sources.checks(file.url) == ["--sha256", file.sha256]
