"""Write what a table is recomputed from, for the proof of its study.

    .venv/bin/python pubmill/extras/proof/programs/basis.py --recipe JSON --results results/demo \\
        --output results/demo/tables/gu2020/table06.basis.json

Inputs: the table, its records and their contributions, and published values.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.extras.proof.basis import table_basis
from pubmill.extras.proof.proofs import TableBasisRecipe
from pubmill.messages.installation import DATA
from pubmill.recipes.programs import program
from pubmill.storage.files import sealed, write_json


def main(
    recipe: TableBasisRecipe,
    results: Annotated[Path, "results folder of the study's scale"],
    output: Annotated[Path, "file to write"],
    specs: Annotated[Path, "folder of the specs"] = DATA / "specs",
) -> None:
    write_json(output, sealed(table_basis(recipe, specs, results)))


if __name__ == "__main__":
    run(program(main))
