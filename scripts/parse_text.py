"""Parse one file of JSON lines.

    python scripts/parse_text.py --input notes.jsonl.gz --output notes.parquet --recipe '{"source": "notes"}'

Input: one JSON object a line; `pubmill/corpus/text.py` names the keys.
Output: a parsed shard (see `pubmill/corpus/shards.py`).
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.shards import write_shard
from pubmill.corpus.text import read_text
from pubmill.errors import run


@dataclass(frozen=True, kw_only=True)
class ParsingRecipe:
    """The name of the source in the corpus spec; the language of lines that name none."""

    source: str
    language: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description="Parse one file of JSON lines.")
    parser.add_argument("--input", type=Path, required=True, help="FILE.jsonl or FILE.jsonl.gz")
    parser.add_argument("--output", type=Path, required=True, help="the parsed shard (parquet) to write")
    parser.add_argument("--recipe", required=True, help='JSON: {"source": name, "language": optional code}')
    arguments = parser.parse_args()
    recipe = recipes.read(ParsingRecipe, arguments.recipe)
    documents = read_text(arguments.input, recipe.source, recipe.language)
    counts = write_shard(
        arguments.output, documents, source=recipe.source, file=arguments.input.name, order=0
    )
    print(f"{arguments.input.name}: {counts.citations} texts")


if __name__ == "__main__":
    run(main)
