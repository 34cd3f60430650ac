"""Write the page that lists where published values of the papers contradict each other.

    .venv/bin/python scripts/contradictions.py --recipe JSON --specs specs \\
        --output results/full/pages/contradictions

Inputs, below --specs: the published values of all tables of results. Outputs: OUTPUT.json (for the report),
OUTPUT.md and OUTPUT.html.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes.contradiction_recipes import ContradictionsRecipe
from pubmill.report.contradictions import CONTRADICTION_RENDERERS, find_contradictions
from pubmill.storage.checksums import write_formats


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="recipe of the page, as JSON text")
    parser.add_argument("--specs", required=True, type=Path, help="folder of the specs")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    found = find_contradictions(recipes.read(ContradictionsRecipe, arguments.recipe), arguments.specs)
    write_formats(arguments.output, found, CONTRADICTION_RENDERERS)


if __name__ == "__main__":
    run(main)
