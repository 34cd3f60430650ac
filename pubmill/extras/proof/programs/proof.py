"""Make the proof of a finished study: an archive with the program that recomputes its tables.

    .venv/bin/python pubmill/extras/proof/programs/proof.py --recipe JSON --results results/demo \\
        --output results/demo/reports/demo.proof.zip

Packs the bases, tables and comparisons of a study with the counts of its runs and, of open datasets, the
labels of examples and predictions. Outputs: OUTPUT and OUTPUT.sha256.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.extras.proof.archive import write_proof
from pubmill.extras.proof.proofs import ProofRecipe
from pubmill.messages.installation import DATA
from pubmill.recipes.programs import program


def main(
    recipe: ProofRecipe,
    results: Annotated[Path, "results folder of the study's scale"],
    output: Annotated[Path, "file to write"],
    specs: Annotated[Path, "folder of the specs"] = DATA / "specs",
) -> None:
    write_proof(recipe, specs, results, output)


if __name__ == "__main__":
    run(program(main))
