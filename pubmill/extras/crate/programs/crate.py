"""Make the RO-Crate of a finished study: its workflow, configuration and results, and a list of all sources.

    .venv/bin/python pubmill/extras/crate/programs/crate.py --recipe JSON --results results/small \\
        --output results/small/reports/small.crate

Inputs: below --results, tables, report, checklist, dataset pages, and the records of all source files; the
checkout's Snakefile, rules and specs. Output: a folder that follows the profile Workflow Run Crate 0.5.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.extras.crate.crate_files import write_crate
from pubmill.extras.crate.crate_recipes import CrateRecipe
from pubmill.messages.installation import DATA
from pubmill.recipes.programs import program


def main(
    recipe: CrateRecipe,
    results: Annotated[Path, "results folder of the study's scale"],
    output: Annotated[Path, "folder to write"],
    specs: Annotated[Path, "folder of the specs, beside the Snakefile and the rules"] = DATA / "specs",
) -> None:
    write_crate(recipe, results, specs.parent, output)


if __name__ == "__main__":
    run(program(main))
