"""Compare the models of each row of a table with the best of them, by the contributions of each document, a
file beside each record of the table's cells. Writes OUTPUT.json, .md and .html."""

from pathlib import Path

from pubmill.report.table_rendering import COMPARISON_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.cells import read_table
from pubmill.tables.comparisons import comparisons


def main(table: Path, results: Path, output: Path) -> None:
    write_formats(output, comparisons(read_table(table), results), COMPARISON_RENDERERS)
