"""Write the page of one dataset from its spec, its card and the records of its source files: OUTPUT.json (for
the report), .md and .html. The examples are not read, so the page cannot show any text of the dataset."""

from pathlib import Path

from pubmill.recipes.report import PageRecipe
from pubmill.report.dataset_pages import PAGE_RENDERERS, make_page
from pubmill.storage.checksums import write_formats


def main(recipe: PageRecipe, results: Path, output: Path) -> None:
    write_formats(output, make_page(recipe, results), PAGE_RENDERERS)
