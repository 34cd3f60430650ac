"""Report which texts of datasets a corpus holds.

    .venv/bin/python scripts/contamination.py --corpus CORPUS --index contamination.parquet \\
        --found contamination/from-0000.json contamination/from-0032.json --output contamination.json

Inputs: the index of the texts, and the matches found in the parts.
Output: for each dataset and split, the number of texts, how many were found and how, and the ids of their
examples and documents. The output contains no text.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.corpus.contamination_report import report
from pubmill.errors import run
from pubmill.storage.corpus_parts import access_of_parts
from pubmill.storage.files import sealed, write_json
from pubmill.storage.privacy import keep_private


def main() -> None:
    parser = argparse.ArgumentParser(description="Report which texts of datasets a corpus holds.")
    parser.add_argument("--corpus", required=True, help="name of the corpus")
    parser.add_argument("--index", type=Path, required=True, help="the index of the texts")
    parser.add_argument("--found", type=Path, required=True, nargs="+", help="matches found in the parts")
    parser.add_argument("--output", type=Path, required=True, help="contamination.json to write")
    arguments = parser.parse_args()
    keep_private([], access_of_parts([arguments.index]))
    found = report(arguments.corpus, arguments.index, arguments.found)
    write_json(arguments.output, sealed(found))
    print(f"{found['documents_with_a_text']} of {found['documents']} documents contain a text of a dataset")


if __name__ == "__main__":
    run(main)
