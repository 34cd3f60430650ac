"""Find texts of datasets in one part of a corpus.

    python scripts/find_contamination.py --part part-0000.parquet --index contamination.parquet \\
        --output contamination/part-0000.json

Input: a part of a corpus, and the index of the texts.
Output: which document holds which text, by ids; no text.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.corpus.contamination_report import find_in_part
from pubmill.errors import run


def main() -> None:
    parser = argparse.ArgumentParser(description="Find texts of datasets in one part of a corpus.")
    parser.add_argument("--part", type=Path, required=True, help="the part of the corpus")
    parser.add_argument("--index", type=Path, required=True, help="the index of the texts")
    parser.add_argument("--output", type=Path, required=True, help="what was found (JSON)")
    arguments = parser.parse_args()
    found = find_in_part(arguments.part, arguments.index, arguments.output)
    print(f"{arguments.part.name}: {found} documents hold a text")


if __name__ == "__main__":
    run(main)
