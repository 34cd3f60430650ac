"""Fixtures that unit tests share."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from tests.licensed import add_spec, write_files


@pytest.fixture
def specs(root: Path, tmp_path: Path) -> Path:
    """The checkout's specs, with a made-up dataset that one must apply for."""
    shutil.copytree(root / "specs", tmp_path / "specs")
    add_spec(tmp_path / "specs")
    return tmp_path / "specs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of that dataset."""
    return write_files(tmp_path / "my files")


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
