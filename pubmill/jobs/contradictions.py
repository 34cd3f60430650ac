"""Write the page that lists where published values of the papers contradict each other: OUTPUT.json (for the
report), OUTPUT.md and OUTPUT.html."""

from pathlib import Path

from pubmill.recipes.tables import ContradictionsRecipe
from pubmill.report.contradictions import CONTRADICTION_RENDERERS, find_contradictions
from pubmill.storage.checksums import write_formats


def main(recipe: ContradictionsRecipe, specs: Path, output: Path) -> None:
    write_formats(output, find_contradictions(recipe, specs), CONTRADICTION_RENDERERS)
