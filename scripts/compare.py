"""Compare the models of each row of a table with the best of them. Needs no GPU and no torch.

    .venv/bin/python scripts/compare.py --table results/full/tables/gu2020/table06.json \\
        --results results/full \\
        --output results/full/tables/gu2020/table06.comparisons
    .venv/bin/python scripts/compare.py --table TABLE --results RESULTS --columns COLUMN COLUMN

Inputs: the table, and the contributions of each document, a file beside each record of the table's cells.
Outputs: OUTPUT.json, .md and .html; without --output, Markdown on standard output. --columns: only these.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import PubmillError, run
from pubmill.publication.comparison_rendering import FORMS
from pubmill.storage.checksums import write_forms
from pubmill.tables.cells import read_table
from pubmill.tables.comparisons import comparisons, with_columns


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", required=True, type=Path, help="the table, .json")
    parser.add_argument("--results", required=True, type=Path, help="folder with the table's records")
    parser.add_argument("--output", type=Path, help="path of the outputs, without extension")
    parser.add_argument("--columns", nargs="+", metavar="COLUMN", help="compare only these")
    arguments = parser.parse_args()
    if not arguments.table.is_file():
        raise PubmillError(
            f"{arguments.table} does not exist yet; `pubmill run` with the study and the table makes it"
        )
    table = read_table(arguments.table)
    found = comparisons(
        with_columns(table, arguments.columns) if arguments.columns else table, arguments.results
    )
    if arguments.output is None:
        print(FORMS["md"](found))
        return
    write_forms(arguments.output, found, FORMS)


if __name__ == "__main__":
    run(main)
