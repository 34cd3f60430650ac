"""Find texts of datasets in parts of a corpus.

    .venv/bin/python scripts/find_contamination.py --parts part-0000.parquet part-0001.parquet \\
        --index contamination.parquet --output contamination/from-0000.json

Inputs: parts of a corpus, and the index of the texts.
Output: the ids of documents and of the texts that they contain. The output contains no text.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.corpus.contamination_report import find_in_parts
from pubmill.errors import run
from pubmill.storage.corpus_parts import access_of_parts
from pubmill.storage.privacy import keep_private


def main() -> None:
    parser = argparse.ArgumentParser(description="Find texts of datasets in parts of a corpus.")
    parser.add_argument("--parts", type=Path, required=True, nargs="+", help="parts of the corpus")
    parser.add_argument("--index", type=Path, required=True, help="the index of the texts")
    parser.add_argument("--output", type=Path, required=True, help="matches to write (JSON)")
    arguments = parser.parse_args()
    keep_private([], access_of_parts([arguments.index]))
    found = find_in_parts(arguments.parts, arguments.index, arguments.output)
    print(f"{found} documents contain a text of a dataset")


if __name__ == "__main__":
    run(main)
