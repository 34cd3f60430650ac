"""Explain where a table cell comes from: runs, recipe, data and weights, down to the source files; or,
without ROW and COLUMN, what differs from the paper in a table.

    .venv/bin/python scripts/explain.py gu2020/table06 [BC2GM PubMedBERT] [--configfile studies/small.yaml]
                              [--config KEY=VALUE ...] [--json]

Inputs:  the configuration, as for Snakemake, the specs, and the contents of the results folder; the table
         itself need not exist. ROW and COLUMN are keys or labels of the table
Output:  a report on standard output, with the commands that make what is missing
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.graph import Graph
from pubmill.inspection.doctor.dataset_diagnoses import merged_config
from pubmill.inspection.explain.cell_explanations import Explainer, explain
from pubmill.inspection.explain.explanation_printing import print_explanation, print_statements, to_json
from pubmill.inspection.explain.table_statements import table_statements
from pubmill.planning.terminal_tables import console
from pubmill.specs.study import check_study


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", metavar="TABLE", help="for example gu2020/table06")
    parser.add_argument("row", metavar="ROW", nargs="?")
    parser.add_argument("column", metavar="COLUMN", nargs="?")
    parser.add_argument("--configfile", nargs="+", action="extend", default=[], help="overrides config.yaml")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", action="store_true", help="for programs")
    arguments = parser.parse_args()
    if arguments.row and not arguments.column:
        parser.error("COLUMN is missing: name ROW and COLUMN for a cell, neither for the whole table")
    if arguments.row:
        config = merged_config(ROOT / "config.yaml", arguments.configfile, arguments.config)
        explainer = Explainer(
            Graph(*check_study(config, ROOT / "specs", arguments.configfile)),
            ROOT / "specs",
            tuple(arguments.configfile),
            tuple(arguments.config),
        )
        explanation = explain(explainer, arguments.table, arguments.row, arguments.column)
        print(to_json(explanation)) if arguments.json else print_explanation(console(), explanation)
    else:
        statements = table_statements(ROOT / "specs", arguments.table)
        print(to_json(statements)) if arguments.json else print_statements(console(), statements)


if __name__ == "__main__":
    run(main)
