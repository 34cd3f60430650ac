"""Parse the clinical notes of MIMIC-III.

    .venv/bin/python scripts/parse_clinical.py --input NOTEEVENTS.csv.gz --output NOTEEVENTS.parquet \\
        --recipe '{"source": "mimic", "brackets": "normalise"}'

Input: NOTEEVENTS.csv or NOTEEVENTS.csv.gz of MIMIC-III.
Output: a parsed shard (see `pubmill/corpus/shards.py`) with every note, readable only by its owner.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.clinical import read_notes
from pubmill.corpus.shards import write_shard
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.corpora import ClinicalParsingRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description="Parse the clinical notes of MIMIC-III.")
    parser.add_argument("--input", type=Path, required=True, help="NOTEEVENTS.csv.gz")
    parser.add_argument("--output", type=Path, required=True, help="the parsed shard (parquet) to write")
    parser.add_argument("--recipe", required=True, help='JSON: {"source": name, "brackets": "keep"}')
    arguments = parser.parse_args()
    recipe = recipes.read(ClinicalParsingRecipe, arguments.recipe)
    counts = write_shard(
        arguments.output, read_notes(arguments.input, recipe.brackets),
        source=recipe.source, file=arguments.input.name, order=0, private=True,
    )  # fmt: skip
    print(f"{arguments.input.name}: {counts.citations} notes")


if __name__ == "__main__":
    run(limited(main))
