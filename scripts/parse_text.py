"""Parse one file of your own texts.

    .venv/bin/python scripts/parse_text.py --input notes.jsonl.gz --output notes.parquet \\
        --recipe '{"source": "notes"}'

Input: one JSON object per line (`pubmill/corpus/json_lines.py` lists the keys), or plain text, which the
recipe's `documents` divides into documents (`pubmill/corpus/plain_text.py`).
Output: a parsed shard (see `pubmill/corpus/shards.py`).
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.json_lines import read_text
from pubmill.corpus.plain_text import read_plain_text
from pubmill.corpus.shards import write_shard
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.corpora import TextParsingRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description="Parse one file of texts.")
    parser.add_argument(
        "--input", type=Path, required=True, help="FILE.jsonl or FILE.txt, or either with .gz"
    )
    parser.add_argument("--output", type=Path, required=True, help="the parsed shard (parquet) to write")
    parser.add_argument(
        "--recipe", required=True, help='JSON: {"source": name, "documents": ..., "language": ...}'
    )
    arguments = parser.parse_args()
    recipe = recipes.read(TextParsingRecipe, arguments.recipe)
    if recipe.documents == "json":
        documents = read_text(arguments.input, recipe.source, recipe.language)
    else:
        documents = read_plain_text(arguments.input, recipe.source, recipe.documents, recipe.language)
    counts = write_shard(
        arguments.output, documents, source=recipe.source, file=arguments.input.name, order=0
    )
    print(f"{arguments.input.name}: {counts.citations} texts")


if __name__ == "__main__":
    run(limited(main))
