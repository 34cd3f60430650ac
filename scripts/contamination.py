"""Report which texts of datasets a corpus holds.

    .venv/bin/python scripts/contamination.py --corpus CORPUS --index contamination.parquet \\
        --found corpora/CORPUS/contamination --parts 2 --output contamination.json

Inputs: the index of the texts, and the matches found in each part (part-0000.json ...).
Output: for each dataset and split, the number of texts, how many were found and how, and the ids of their
examples and documents. The output contains no text.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.contamination_report import report
from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.storage.files import sealed, write_json
from pubmill.storage.parquet import access_of_parts, part_files
from pubmill.storage.privacy import keep_private


def main(
    corpus: Annotated[str, "name of the corpus"],
    index: Annotated[Path, "the index of the texts"],
    found: Annotated[Path, "folder of the matches found in the parts"],
    parts: Annotated[int, "number of parts"],
    output: Annotated[Path, "contamination.json to write"],
) -> None:
    keep_private([], access_of_parts([index]))
    made = report(corpus, index, [path.with_suffix(".json") for path in part_files(found, parts)])
    write_json(output, sealed(made))
    print(f"{made['documents_with_a_text']} of {made['documents']} documents contain a text of a dataset")


if __name__ == "__main__":
    run(program(main))
