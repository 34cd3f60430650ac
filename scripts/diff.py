"""Show the differences between two commits, studies, settings or sets of runs. Needs no GPU and no torch.

    .venv/bin/python scripts/diff.py A B [--study gu2020] [--config KEY=VALUE ...] [--json]

A and B are each a record (.../final/seed-1.json), a folder with runs below it, a study, PROTOCOL/SETTING, or
a git commit. A setting and a commit belong to --study: its recipes, and the records in its results.

Inputs:  the configuration, the specs, and the records in the results
Output:  on standard output the keys of the resolved recipes that differ, the scores of common runs with an
         interval of the difference, the documents that only one side has right, and the cost of the runs
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.errors import run
from pubmill.inspection.diff.differences import as_json, differences, print_differences
from pubmill.inspection.diff.sides import Context, side_of
from pubmill.planning.terminal_tables import console
from pubmill.specs.study import DEMO


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("left", metavar="A")
    parser.add_argument("right", metavar="B")
    parser.add_argument("--study", default=DEMO, help="the study of a setting or commit; default: the demo")
    parser.add_argument("--config", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json", action="store_true", help="for programs")
    arguments = parser.parse_args()
    context = Context(ROOT, arguments.study, arguments.config)
    found = differences(side_of(arguments.left, context), side_of(arguments.right, context))
    if arguments.json:
        print(as_json(found), end="")
    else:
        print_differences(console(), found)


if __name__ == "__main__":
    run(main)
