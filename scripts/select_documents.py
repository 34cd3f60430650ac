"""Select the documents of a corpus from one parsed shard.

    .venv/bin/python scripts/select_documents.py --shard 26n0001.parquet --index 0 \\
        --latest latest/part-0000.parquet \\
        --output part-0000.parquet --statistics part-0000.json --recipe '{"min_words": 128}'

Inputs: a parsed shard, its number, and its rows of `latest.parquet`; the excluded texts and the list of
duplicates, if the corpus has any.
Outputs: the documents (id, version, date, title, text, words, bytes), and statistics of what was rejected and
why.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.contamination import EvaluationTexts
from pubmill.corpus.statistics import select
from pubmill.errors import run
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.recipes.programs import program


def main(
    shard: Annotated[Path, "the parsed shard"],
    index: Annotated[int, "the part's number"],
    latest: Annotated[Path, "latest/part-NNNN.parquet of the corpus"],
    output: Annotated[Path, "the part of the corpus to write"],
    statistics: Annotated[Path, "the part's statistics to write"],
    recipe: SelectionRecipe,
    exclude: Annotated[Path | None, "index of texts that the corpus must not contain"] = None,
    duplicates: Annotated[Path | None, "duplicates/part-NNNN.parquet of the corpus"] = None,
) -> None:
    select(
        shard, index, latest, recipe,
        output, statistics,
        EvaluationTexts(exclude) if exclude else None, duplicates,
    )  # fmt: skip


if __name__ == "__main__":
    run(program(main))
