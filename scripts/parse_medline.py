"""Parse one PubMed file.

    .venv/bin/python scripts/parse_medline.py --input pubmed26n0001.xml.gz --output 26n0001.parquet \\
        --recipe '{"source": "pubmed", "parser": "pubmill"}'

Input: a file of PubMed's baseline or updatefiles, under its original name.
Output: a parsed shard (see `pubmill/corpus/shards.py`) with every citation and every deletion.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.medline import file_order, read_medline
from pubmill.corpus.pubmed_parser_reading import read_medline_with_pubmed_parser
from pubmill.corpus.shards import write_shard
from pubmill.errors import run
from pubmill.hardware.process_limits import limited
from pubmill.recipes.corpora import MedlineParsingRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import sha256


def main(
    input_: Annotated[Path, "pubmedYYnNNNNN.xml.gz"],
    output: Annotated[Path, "the parsed shard (parquet) to write"],
    recipe: MedlineParsingRecipe,
) -> None:
    order = file_order(input_)
    read = read_medline_with_pubmed_parser if recipe.parser == "pubmed_parser" else read_medline
    documents = read(input_)
    counts = write_shard(
        output, documents, source=recipe.source, file=input_.name, order=order, digest=sha256(input_)
    )
    print(f"{input_.name}: {counts.citations} citations, {counts.deletions} deletions")


if __name__ == "__main__":
    run(limited(program(main)))
