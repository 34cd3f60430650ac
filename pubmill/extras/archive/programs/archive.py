"""Pack the archive of a finished study: its predictions, records and tables, and what they follow from.

    .venv/bin/python pubmill/extras/archive/programs/archive.py --recipe JSON --results results/demo \\
        --output results/demo/reports/demo.archive.zip

Inputs: below --results, tables, records, and of public datasets examples and predictions; the checkout's
Snakefile, rules and specs. Output: a zip that is an RO-Crate. `pubmill verify` makes its numbers again.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.extras.archive.archive_recipes import ArchiveRecipe
from pubmill.extras.archive.packing import pack
from pubmill.messages.installation import DATA
from pubmill.recipes.programs import program


def main(
    recipe: ArchiveRecipe,
    results: Annotated[Path, "results folder of the study's scale"],
    output: Annotated[Path, "zip to write"],
    specs: Annotated[Path, "folder of the specs, beside the Snakefile and the rules"] = DATA / "specs",
) -> None:
    pack(recipe, results, specs.parent, output)


if __name__ == "__main__":
    run(program(main))
