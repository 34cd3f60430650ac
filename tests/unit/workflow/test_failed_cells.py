"""Cells that failed trainings leave without a value."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pubmill.stages import Graph
from pubmill.storage.result_paths import Paths
from pubmill.tables.cells import NO_RECORD
from pubmill.workflow.preparation import failed_cells


def cell(missing: str | None, *failed: str | None) -> Any:
    return SimpleNamespace(missing=missing, seeds=[SimpleNamespace(failed=one) for one in failed])


def test_each_cell_of_a_finished_table_with_a_failed_run_has_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was not made is not a failed one; a table that was not made has no cells."""
    paths = Paths(str(tmp_path))
    made = Path(paths.table("p/table01", "json"))
    made.parent.mkdir(parents=True)
    made.touch()
    row, column = SimpleNamespace(label="BC2GM"), SimpleNamespace(label="BERT")
    cells = [
        cell(None, None, None),
        cell("no record of seed 1", NO_RECORD, None),
        cell("seed 2 diverged", None, "diverged"),
        cell("out of memory", "out of memory", NO_RECORD),
        cell(None),
    ]
    table = SimpleNamespace(read=lambda: [(row, column, one) for one in cells])
    read: list[Path] = []

    def read_table(path: Path) -> Any:
        read.append(path)
        return table

    monkeypatch.setattr("pubmill.tables.cells.read_table", read_table)
    requests = SimpleNamespace(result_tables=lambda: ["p/table01", "p/table02"])
    graph = cast(Graph, SimpleNamespace(paths=paths, requests=requests))
    assert failed_cells(graph) == [
        "failed: p/table01, BERT, BC2GM: seed 2 diverged",
        "failed: p/table01, BERT, BC2GM: out of memory",
    ]
    assert read == [made]
