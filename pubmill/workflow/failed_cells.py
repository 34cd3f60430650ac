"""Cells that failed trainings leave without a value, named at the end of a run."""

from pathlib import Path

from pubmill.stages import Graph
from pubmill.tables.cells import NO_RECORD, read_table

FAILED_CELLS = 3
"""Exit status of a run whose jobs are all done, but whose tables have such cells."""


def failed_cells(graph: Graph) -> list[str]:
    """Return one line for each cell of the study's finished tables that has a failed training."""
    files = {name: Path(graph.paths.table(name, "json")) for name in graph.requests.result_tables()}
    tables = {name: read_table(path) for name, path in files.items() if path.is_file()}
    return [
        f"failed: {name}, {column.label}, {row.label}: {cell.missing}"
        for name, table in tables.items()
        for row, column, cell in table.read()
        if any(seed.failed not in (None, NO_RECORD) for seed in cell.seeds)
    ]
