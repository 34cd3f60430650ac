"""Compare the models of each row of a table with the best of them. Needs no GPU and no torch.

    .venv/bin/python scripts/compare.py --table results/full/tables/gu2020/table06.json \\
        --results results/full \\
        --output results/full/tables/gu2020/table06.comparisons

Inputs: the table, and the contributions of each document, a file beside each record of the table's cells.
Outputs: OUTPUT.json, .md and .html.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import run
from pubmill.report.table_rendering import COMPARISON_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.cells import read_table
from pubmill.tables.comparisons import comparisons


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", required=True, type=Path, help="the table, .json")
    parser.add_argument("--results", required=True, type=Path, help="folder with the table's records")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    write_formats(
        arguments.output, comparisons(read_table(arguments.table), arguments.results), COMPARISON_RENDERERS
    )


if __name__ == "__main__":
    run(main)
