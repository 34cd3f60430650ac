"""Fixtures that unit tests share."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pubmill.specs import Specs
from pubmill.specs.study import Study
from pubmill.stages import Graph
from tests.licensed import add_spec, write_files
from tests.unit.toy_studies import GraphOf, loaded


@pytest.fixture
def specs(root: Path, tmp_path: Path) -> Path:
    """The checkout's specs, with a made-up dataset that one must apply for."""
    shutil.copytree(root / "specs", tmp_path / "specs")
    add_spec(tmp_path / "specs")
    return tmp_path / "specs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "my files")


@pytest.fixture(scope="session", autouse=True)
def loaded_once() -> Iterator[None]:
    """Let `check_study` take specs that were loaded before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pubmill.specs.study.load", loaded)
        yield


@pytest.fixture(scope="session")
def full_specs(root: Path) -> Specs:
    """The specs at full scale, where released weights are preferred."""
    return loaded(root / "specs", "full")


@pytest.fixture(scope="session")
def demo_specs(root: Path) -> Specs:
    """The specs at the scale of the demo, where models are pretrained on made-up data."""
    return loaded(root / "specs", "demo")


def of_study(specs: Specs, results: Path, study: dict[str, Any]) -> Graph:
    values = {"study": "x", "title": "X", "scale": specs.scale.name, "tables": (), "results": str(results)}
    return Graph(Study(**values | study), specs)


@pytest.fixture
def graph_of(tmp_path: Path) -> GraphOf:
    """A function that makes the graph of a study, by default without tables, with results in a new folder."""
    return lambda specs, **study: of_study(specs, tmp_path / "results", study)


@pytest.fixture(scope="session")
def full_graph(full_specs: Specs, tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """The graph of a study without tables at full scale; tests only ask it."""
    return of_study(full_specs, tmp_path_factory.mktemp("results"), {})


@pytest.fixture(scope="session")
def demo_graph(demo_specs: Specs, tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return of_study(demo_specs, tmp_path_factory.mktemp("results"), {})
