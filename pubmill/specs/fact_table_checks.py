"""Cross-checks of fact tables against the other specs."""

from collections.abc import Iterator, Mapping
from typing import Any

from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.fact_table_specs import FactTableSpec
from pubmill.specs.protocol_specs import ALL_TASKS

Place = tuple[str | int, ...]


def references_of_facts(table: FactTableSpec) -> Iterator[tuple[Place, str, str, bool]]:
    """Yield the specs that a table names as (location, kind, name, excused by a `missing:` reason)."""
    for i, row in enumerate(table.rows if table.subjects != "tasks" else ()):
        yield ("rows", i, "subject"), table.subjects, row.subject, bool(row.missing)
    for i, column in enumerate(table.columns):
        if column.dataset:
            yield ("columns", i, "dataset"), "datasets", column.dataset, False
    if table.protocol:
        yield ("protocol",), "protocols", table.protocol, False


def faults_of_facts(table: FactTableSpec, made: dict[str, dict[str, Any]]) -> Iterator[tuple[Place, str]]:
    """Report unknown tasks and settings, impossible runs and unused labels."""
    for i, row in enumerate(table.rows):
        if table.subjects == "tasks" and row.subject not in ALL_TASKS:
            yield ("rows", i, "subject"), f"there is no task {row.subject}; there are {', '.join(ALL_TASKS)}"
    protocol = made["protocols"].get(table.protocol or "")
    for i, column in enumerate(table.columns):
        data = made["datasets"].get(column.dataset or "")
        if protocol is None or data is None or table.setting is None:
            continue
        if fault := protocol.obstacle(data, table.rows[0].subject, table.setting):
            yield ("columns", i, "dataset"), fault
    if table.subjects == "datasets":
        for at in _unused_words(table, made["datasets"]):
            yield at, f"no cell shows the word {at[-1]!r}; remove it"


def _unused_words(table: FactTableSpec, datasets: Mapping[str, DatasetSpec]) -> Iterator[Place]:
    """Locations of `words` for terms that none of the table's datasets has."""
    shown = {column.value for column in table.columns} & {"task", "domain", "metric"}
    common: set[str] = set()
    for i, row in enumerate(table.rows):
        spec = datasets.get(row.subject)
        terms = {getattr(spec, field) for field in shown} if spec else set()
        yield from (("rows", i, "words", word) for word in row.words if word not in terms)
        common |= terms - row.words.keys()
    yield from (("words", word) for word in table.words if word not in common)
