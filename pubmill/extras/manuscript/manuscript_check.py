"""Check a manuscript against the finished tables of a study and their comparisons."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pubmill.extras.manuscript import cell_macros
from pubmill.extras.manuscript.claim_check import check_claims
from pubmill.extras.manuscript.latex_source import ManuscriptFault, Source, read_manuscript
from pubmill.extras.manuscript.manuscript_sentences import TableNames
from pubmill.extras.manuscript.number_check import check_numbers
from pubmill.extras.manuscript.study_tables import StudyTables, Tables
from pubmill.extras.manuscript.tabular_check import check_tabulars


class Checked(NamedTuple):
    """The findings in a manuscript, in the order of its files and lines, and notes on what was not read."""

    findings: list[ManuscriptFault]
    notes: list[str]


def check_manuscript(main: Path, study: StudyTables) -> Checked:
    """Check a manuscript: its main file, and the files in its folder that it inputs."""
    sources, notes = read_manuscript(main)
    order = {source.name: number for number, source in enumerate(sources)}
    findings = sorted({*_findings(sources, study)}, key=lambda one: (order[one.file], one))
    if not any("\\" in source.code for source in sources):
        notes.append(f"{main} has no LaTeX command; expected the main file of a manuscript")
    return Checked(findings, notes)


def _findings(sources: Sequence[Source], study: StudyTables) -> Iterator[ManuscriptFault]:
    macros = [source for source in sources if cell_macros.WRITTEN.match(source.text)]
    texts = [source for source in sources if source not in macros]
    own = {name: key for source in texts for name, key in source.own_names().items()}
    names = {name: TableNames(table, own) for name, table in study.tables.items()}
    for source in texts:
        yield from _check_names(source, study.tables)
        yield from cell_macros.check_macros(source, study.tables)
        yield from cell_macros.check_annotated(source, study.tables)
        yield from check_tabulars(source, study.tables)
        yield from check_numbers(source, study.tables, names)
        yield from check_claims(source, study, names)
    used = [key for source in texts for _, _, key in cell_macros.uses(source.code)]
    for source in macros:
        cell_macros.check_study(source.text, source.name, study.study, study.scale)
        yield from cell_macros.check_age(source, study.tables, used)


def _check_names(source: Source, tables: Tables) -> Iterator[ManuscriptFault]:
    """Yield a finding for each mark that names an unknown row or column."""
    known = {row.key for table in tables.values() for row in (*table.rows, *table.composites)}
    known |= {column.key for table in tables.values() for column in table.columns}
    for mark in source.marks:
        if mark.kind == "name" and mark.names.rpartition("=")[2].strip() not in known:
            expected = "no table of the study has such a row or column"
            yield source.fault(mark.start, "unknown", mark.names, expected, "Write NAME = KEY")
