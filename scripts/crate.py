"""Make the RO-Crate of a finished study: its workflow, configuration and results, and a list of all sources.

    .venv/bin/python scripts/crate.py --recipe JSON --results results/small \\
        --output results/small/reports/small.crate

Inputs: below --results, tables, report, checklist, dataset pages, and the records of all source files; the
checkout's Snakefile, rules and specs. Output: a folder that follows the profile Workflow Run Crate 0.5.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill import recipes
from pubmill.errors import run
from pubmill.extras.crate.crate_files import write_crate
from pubmill.recipes.report import CrateRecipe


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="recipe of the crate, as JSON text")
    parser.add_argument("--results", required=True, type=Path, help="results folder of the study's scale")
    parser.add_argument("--output", required=True, type=Path, help="folder to write")
    arguments = parser.parse_args()
    write_crate(recipes.read(CrateRecipe, arguments.recipe), arguments.results, ROOT, arguments.output)


if __name__ == "__main__":
    run(main)
