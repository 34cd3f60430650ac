"""Select the documents of a corpus from one parsed shard.

    .venv/bin/python scripts/select_documents.py --shard 26n0001.parquet --index 0 --latest latest.parquet \\
        --output part-0000.parquet --statistics part-0000.json --recipe '{"min_words": 128}'

Inputs: a parsed shard, its index in `latest.parquet`, and that file; the excluded texts and the list of
duplicates, if the corpus has any.
Outputs: the documents (id, version, date, title, text, words, bytes), and statistics of what was rejected and
why.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.statistics import select
from pubmill.errors import run
from pubmill.recipes.corpora import SelectionRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description="Select the documents of a corpus from one parsed shard.")
    parser.add_argument("--shard", type=Path, required=True, help="the parsed shard")
    parser.add_argument("--index", type=int, required=True, help="index of the shard in the list of --latest")
    parser.add_argument("--latest", type=Path, required=True, help="latest.parquet of the corpus")
    parser.add_argument("--exclude", type=Path, help="index of texts that the corpus must not contain")
    parser.add_argument("--duplicates", type=Path, help="duplicates.parquet of the corpus")
    parser.add_argument("--output", type=Path, required=True, help="the part of the corpus to write")
    parser.add_argument("--statistics", type=Path, required=True, help="the part's statistics to write")
    parser.add_argument("--recipe", required=True, help='JSON: the selection, such as {"min_words": 128}')
    arguments = parser.parse_args()
    select(
        arguments.shard, arguments.index, arguments.latest, recipes.read(SelectionRecipe, arguments.recipe),
        arguments.output, arguments.statistics,
        EvaluationTexts(arguments.exclude) if arguments.exclude else None, arguments.duplicates,
    )  # fmt: skip


if __name__ == "__main__":
    run(main)
