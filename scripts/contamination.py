"""Report which texts of datasets a corpus holds.

    python scripts/contamination.py --corpus CORPUS --index contamination.parquet \\
        --found corpora/CORPUS/contamination --parts 2 --output contamination.json

Input: the index of the texts, and what was found in each part (part-0000.json ...).
Output: of each dataset and split the texts, how many of them were found and how, the ids of their examples
and of the documents; no text.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.corpus.contamination_report import report
from pubmill.errors import run
from pubmill.files import write_json
from pubmill.parts import part_files


def main() -> None:
    parser = argparse.ArgumentParser(description="Report which texts of datasets a corpus holds.")
    parser.add_argument("--corpus", required=True, help="name of the corpus")
    parser.add_argument("--index", type=Path, required=True, help="the index of the texts")
    parser.add_argument("--found", type=Path, required=True, help="folder of what was found in each part")
    parser.add_argument("--parts", type=int, required=True, help="how many parts there are")
    parser.add_argument("--output", type=Path, required=True, help="contamination.json to write")
    arguments = parser.parse_args()
    parts = [part.with_suffix(".json") for part in part_files(arguments.found, arguments.parts)]
    told = report(arguments.corpus, arguments.index, parts)
    write_json(arguments.output, told)
    print(f"{told['documents_with_a_text']} of {told['documents']} documents hold a text")


if __name__ == "__main__":
    run(main)
