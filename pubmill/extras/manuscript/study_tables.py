"""The finished tables of a study, with their comparisons, read from the results folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.cell_texts import Tables
from pubmill.messages import commands
from pubmill.stages import Graph
from pubmill.storage.result_paths import BELOW
from pubmill.tables.cells import read_table
from pubmill.tables.comparisons import Comparisons, read_comparisons


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
    files = [
        results / path
        for name in names
        for path in (BELOW.table(name, "json"), BELOW.comparisons(name, "json"))
    ]
    if absent := [str(path) for path in files if not path.is_file()]:
        raise PubmillError(
            f"study {study} is not finished: there is no {', '.join(absent)}; make its tables: "
            f"{commands.pubmill('run', study)}"
        )
    tables = {name: read_table(results / BELOW.table(name, "json")) for name in names}
    compared = {name: read_comparisons(results / BELOW.comparisons(name, "json")) for name in names}
    return StudyTables(study, scale, tables, compared)


def finished_tables(graph: Graph) -> StudyTables:
    """Return the finished tables of results of a study, with their comparisons."""
    study, names = graph.study, graph.requests.result_tables()
    return read_study_tables(study.study, study.scale, names, Path(graph.results))
