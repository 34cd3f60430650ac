"""Find texts of datasets in parts of a corpus.

    .venv/bin/python scripts/find_contamination.py --parts part-0000.parquet part-0001.parquet \\
        --index contamination.parquet --output contamination/from-0000.json

Inputs: parts of a corpus, and the index of the texts.
Output: the ids of documents and of the texts that they contain. The output contains no text.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.contamination_report import find_in_parts
from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.storage.parquet import access_of_parts
from pubmill.storage.privacy import keep_private


def main(
    parts: Annotated[list[Path], "parts of the corpus"],
    index: Annotated[Path, "the index of the texts"],
    output: Annotated[Path, "matches to write (JSON); those of parts that have not changed are kept"],
    version: Annotated[str, "version of the search; matches of another one are not kept"] = "",
) -> None:
    keep_private([], access_of_parts([index]))
    found = find_in_parts(parts, index, output, version)
    print(f"{found} documents contain a text of a dataset")


if __name__ == "__main__":
    run(program(main))
