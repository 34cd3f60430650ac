"""Divide a block of a table of all documents of a corpus into one file for each part.

    .venv/bin/python scripts/divide_by_part.py --table latest/block-00.parquet --first 0 \\
        --outputs latest/part-0000.parquet latest/part-0001.parquet

Input: rows of 100 parts of latest.parquet or duplicates.parquet of the corpus.
Outputs: the rows of the parts from --first on; no rows for parts that the corpus does not have.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.part_tables import divide_by_part
from pubmill.errors import run
from pubmill.recipes.programs import program


def main(
    table: Annotated[Path, "rows of 100 parts, sorted by part"],
    first: Annotated[int, "number of the first part"],
    outputs: Annotated[list[Path], "files to write, one a part"],
) -> None:
    divide_by_part(table, first, outputs)


if __name__ == "__main__":
    run(program(main))
