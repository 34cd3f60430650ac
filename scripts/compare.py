"""Compare the models of each row of a table with the best of them. Needs no GPU and no torch.

    .venv/bin/python scripts/compare.py --table results/full/tables/gu2020/gu2020-table06.json \\
        --results results/full \\
        --output results/full/tables/gu2020/gu2020-table06.comparisons

Inputs: the table, and the contributions of each document, a file beside each record of the table's cells.
Outputs: OUTPUT.json, .md and .html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.report.table_rendering import COMPARISON_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.cells import read_table
from pubmill.tables.comparisons import comparisons


def main(
    table: Annotated[Path, "the table, .json"],
    results: Annotated[Path, "folder with the table's records"],
    output: Annotated[Path, "path of the outputs, without extension"],
) -> None:
    write_formats(output, comparisons(read_table(table), results), COMPARISON_RENDERERS)


if __name__ == "__main__":
    run(program(main))
