"""Parse one file of your own texts.

    .venv/bin/python scripts/parse_text.py --input notes.jsonl.gz --output notes.parquet \\
        --recipe '{"source": "notes"}'

Input: one JSON object per line (`pubmill/corpus/own_texts.py` lists the keys), or plain text, which the
recipe's `documents` divides into documents (`pubmill/corpus/own_texts.py`).
Output: a parsed shard (see `pubmill/corpus/shards.py`).
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.own_texts import read_plain_text, read_text
from pubmill.corpus.shards import write_shard
from pubmill.errors import run
from pubmill.recipes.corpora import TextParsingRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import sha256


def main(
    input_: Annotated[Path, "FILE.jsonl or FILE.txt, or either with .gz"],
    output: Annotated[Path, "the parsed shard (parquet) to write"],
    recipe: TextParsingRecipe,
) -> None:
    if recipe.documents == "json":
        documents = read_text(input_, recipe.source, recipe.language)
    else:
        documents = read_plain_text(input_, recipe.source, recipe.documents, recipe.language)
    counts = write_shard(
        output, documents, source=recipe.source, file=input_.name, order=0, digest=sha256(input_)
    )
    print(f"{input_.name}: {counts.citations} texts")


if __name__ == "__main__":
    run(program(main))
