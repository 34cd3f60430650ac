"""Parse one PubMed file.

    .venv/bin/python scripts/parse_medline.py --input pubmed26n0001.xml.gz --output 26n0001.parquet \\
        --recipe '{"source": "pubmed", "parser": "pubmill"}'

Input: a file of PubMed's baseline or updatefiles, under its original name.
Output: a parsed shard (see `pubmill/corpus/shards.py`) with every citation and every deletion.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.medline import file_order, read_medline
from pubmill.corpus.pubmed_parser_reading import read_medline_with_pubmed_parser
from pubmill.corpus.shards import write_shard
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.corpora import MedlineParsingRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description="Parse one PubMed file.")
    parser.add_argument("--input", type=Path, required=True, help="pubmedYYnNNNNN.xml.gz")
    parser.add_argument("--output", type=Path, required=True, help="the parsed shard (parquet) to write")
    parser.add_argument("--recipe", required=True, help='JSON: {"source": name, "parser": name}')
    arguments = parser.parse_args()
    recipe = recipes.read(MedlineParsingRecipe, arguments.recipe)
    order = file_order(arguments.input)
    read = read_medline_with_pubmed_parser if recipe.parser == "pubmed_parser" else read_medline
    documents = read(arguments.input)
    counts = write_shard(
        arguments.output, documents, source=recipe.source, file=arguments.input.name, order=order
    )
    print(f"{arguments.input.name}: {counts.citations} citations, {counts.deletions} deletions")


if __name__ == "__main__":
    run(limited(main))
