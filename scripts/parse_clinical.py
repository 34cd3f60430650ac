"""Parse the clinical notes of MIMIC-III.

    .venv/bin/python scripts/parse_clinical.py --input NOTEEVENTS.csv.gz --output NOTEEVENTS.parquet \\
        --recipe '{"source": "mimic", "brackets": "normalise"}'

Input: NOTEEVENTS.csv or NOTEEVENTS.csv.gz of MIMIC-III.
Output: a parsed shard (see `pubmill/corpus/shards.py`) with every note, readable only by its owner.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.clinical import read_notes
from pubmill.corpus.shards import write_shard
from pubmill.errors import run
from pubmill.recipes.corpora import ClinicalParsingRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import sha256


def main(
    input_: Annotated[Path, "NOTEEVENTS.csv.gz"],
    output: Annotated[Path, "the parsed shard (parquet) to write"],
    recipe: ClinicalParsingRecipe,
) -> None:
    counts = write_shard(
        output, read_notes(input_, recipe.brackets),
        source=recipe.source, file=input_.name, order=0, digest=sha256(input_),
        private=True,
    )  # fmt: skip
    print(f"{input_.name}: {counts.citations} notes")


if __name__ == "__main__":
    run(program(main))
