"""The finished tables of a study, with their comparisons, read from the results folder; and their cells."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.wording import unknown
from pubmill.stages import Graph
from pubmill.storage.result_paths import BELOW
from pubmill.tables.cells import Cell, Table, read_as, read_table
from pubmill.tables.comparisons import Comparisons

Tables = Mapping[str, Table]
"""Name of a table (`gu2020/table06`) -> the finished table."""


class CellKey(NamedTuple):
    """The names of a cell, as a macro takes them: table, row, column."""

    table: str
    row: str
    column: str

    def __str__(self) -> str:
        return "{" + "}{".join(self) + "}"


class StudyTables(NamedTuple):
    """The tables of results of a study and their comparisons, by name."""

    study: str
    scale: str
    tables: Tables
    compared: Mapping[str, Comparisons]


def read_study_tables(study: str, scale: str, names: Sequence[str], results: Path) -> StudyTables:
    """Read a study's finished tables of results; a `PubmillError` names those that do not exist yet."""
    if not names:
        raise PubmillError(f"study {study} has no table of results; name a study with one")
    tables = {name: results / BELOW.table(name, "json") for name in names}
    compared = {name: results / BELOW.comparisons(name, "json") for name in names}
    files = (path for name in names for path in (tables[name], compared[name]))
    if absent := [str(path) for path in files if not path.is_file()]:
        raise PubmillError(
            f"study {study} is not finished: there is no {', '.join(absent)}; make its tables: "
            f"{commands.pubmill('run', study)}"
        )
    return StudyTables(
        study,
        scale,
        {name: read_table(path) for name, path in tables.items()},
        {name: read_as(Comparisons, path) for name, path in compared.items()},
    )


def finished_tables(graph: Graph) -> StudyTables:
    """Return the finished tables of results of a study, with their comparisons."""
    study, names = graph.study, graph.requests.result_tables()
    return read_study_tables(study.study, study.scale, names, Path(graph.results))


def all_cells(tables: Tables) -> Iterator[tuple[CellKey, Cell]]:
    """Yield the cells of tables, in reading order."""
    for name, table in tables.items():
        for row, column, cell in table.read():
            yield CellKey(name, row.key, column.key), cell


def cell_of(tables: Tables, key: CellKey) -> Cell:
    """Return a cell; a `PubmillError` names the key that is unknown and the nearest ones."""
    if key.table not in tables:
        raise PubmillError(unknown("table", key.table, tables))
    table = tables[key.table]
    columns = [column.key for column in table.columns]
    rows = [row.key for row in (*table.rows, *table.composites)]
    for kind, name, known in (("column", key.column, columns), ("row", key.row, rows)):
        if name not in known:
            raise PubmillError(f"{table.paper}/{table.table}: {unknown(kind, name, known)}")
    return table.cells[key.column][key.row]
