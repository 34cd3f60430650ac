"""Split the scores of a table by what the scored items share with training. Needs no GPU and no torch.

    .venv/bin/python pubmill/extras/overlap/programs/overlap.py --recipe JSON \\
        --table results/full/tables/gu2020/table06.json \\
        --results results/full --output results/full/tables/gu2020/table06.overlap

Inputs, below --results: the records and predictions of the table's runs, the examples of their datasets, and
where they are there, the identifiers of mentions (concepts/DATASET.jsonl.gz); of the corpora in the recipe,
contamination.json and document-years.json.
Outputs: OUTPUT.json, .csv, .md and .html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.extras.overlap.overlap_of_runs import OVERLAP_RENDERERS, overlap_table
from pubmill.extras.overlap.overlap_recipes import OverlapRecipe
from pubmill.recipes.programs import program
from pubmill.storage.checksums import write_formats
from pubmill.tables.cells import read_table


def main(
    recipe: OverlapRecipe,
    table: Annotated[Path, "the table, .json"],
    results: Annotated[Path, "results folder with the runs"],
    output: Annotated[Path, "path of the outputs, without extension"],
) -> None:
    overlap = overlap_table(recipe, read_table(table), results)
    write_formats(output, overlap, OVERLAP_RENDERERS)


if __name__ == "__main__":
    run(program(main))
