"""Write the page of a study's floors: STUDY.floors.json and .html; OUTPUT is one of them."""

from pathlib import Path

from pubmill.errors import run
from pubmill.extras.floors.floors_recipes import FloorsPageRecipe
from pubmill.extras.floors.headroom import HEADROOM_RENDERERS, study_headroom
from pubmill.job import program
from pubmill.storage.checksums import write_formats


def main(recipe: FloorsPageRecipe, results: Path, output: Path) -> None:
    write_formats(output.with_suffix(""), study_headroom(recipe, results), HEADROOM_RENDERERS)


if __name__ == "__main__":
    run(program(main))
