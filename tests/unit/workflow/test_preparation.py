"""Pages that a run was asked for."""

from types import SimpleNamespace
from typing import Any, cast

from pubmill.graph import Graph
from pubmill.storage.result_paths import Paths
from pubmill.workflow.preparation import requested_pages

GRAPH = cast(Graph, SimpleNamespace(paths=Paths("results/demo"), study=SimpleNamespace(study="demo")))


def workflow(*files: str) -> Any:
    return SimpleNamespace(dag=SimpleNamespace(targetfiles=files))


def test_requested_pages_come_before_the_report() -> None:
    assert requested_pages(workflow("a.json", "a.html"), GRAPH) == ["a.html"]
    assert requested_pages(workflow("a.json"), GRAPH) == [GRAPH.paths.report("demo", "html")]
