"""Make the proof of a finished study: an archive with the program that recomputes its tables.

    .venv/bin/python scripts/proof.py basis --recipe JSON --results results/demo \\
        --output results/demo/tables/gu2020/table06.basis.json
    .venv/bin/python scripts/proof.py study --recipe JSON --results results/demo \\
        --output results/demo/reports/demo.proof.zip

`basis` writes what one table is recomputed from. Inputs: the table, its records and their contributions, and
published values. `study` packs the bases, tables and comparisons of a study with the counts of its runs and,
of open datasets, the labels of examples and predictions. Outputs: OUTPUT and OUTPUT.sha256.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill import recipes
from pubmill.errors import run
from pubmill.extras.proof.archive import write_proof
from pubmill.extras.proof.basis import table_basis
from pubmill.recipes.proofs import ProofRecipe, TableBasisRecipe
from pubmill.storage.files import sealed, write_json


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("basis", "study"), help="of one table, or the proof of the study")
    parser.add_argument("--recipe", required=True, help="recipe, as JSON text")
    parser.add_argument("--specs", type=Path, default=ROOT / "specs", help="folder of the specs")
    parser.add_argument("--results", required=True, type=Path, help="results folder of the study's scale")
    parser.add_argument("--output", required=True, type=Path, help="file to write")
    arguments = parser.parse_args()
    if arguments.what == "basis":
        recipe = recipes.read(TableBasisRecipe, arguments.recipe)
        write_json(arguments.output, sealed(table_basis(recipe, arguments.specs, arguments.results)))
    else:
        proof = recipes.read(ProofRecipe, arguments.recipe)
        write_proof(proof, arguments.specs, arguments.results, arguments.output)


if __name__ == "__main__":
    run(main)
