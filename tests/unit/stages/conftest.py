"""Specs of the checkout, loaded once, and studies of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.stages import Graph


@pytest.fixture(scope="session")
def full_specs(root: Path) -> Specs:
    """The specs at full scale, where released weights are preferred."""
    return load(root / "specs", "full")


@pytest.fixture(scope="session")
def demo_specs(root: Path) -> Specs:
    """The specs at the scale of the demo, where models are pretrained on made-up data."""
    return load(root / "specs", "demo")


@pytest.fixture
def graph_of(tmp_path: Path) -> Callable[..., Graph]:
    """A function that makes the graph of a study, by default without tables, with results in a new folder."""

    def graph(specs: Specs, **study: Any) -> Graph:
        values = {"study": "x", "title": "X", "scale": specs.scale.name, "tables": ()}
        return Graph(Study(**(values | {"results": str(tmp_path / "results")} | study)), specs)

    return graph
