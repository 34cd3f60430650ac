"""Add up what is in a corpus, and list its documents.

    python scripts/corpus_statistics.py --parts part-0000.parquet part-0001.parquet \\
        --manifest manifest.parquet --output stats.json --recipe '{}'

Input: the parts of a corpus, each with its statistics beside it (part-0000.json).
Output: manifest (id, version, date, part, row) and totals: parsed, documents, words, bytes,
rejected by reason with samples, by source, by year. The recipe is recorded, nothing more.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.corpus.statistics import total, write_manifest
from pubmill.errors import PubmillError, run
from pubmill.files import write_json


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Add up what is in a corpus, and list its documents.", fromfile_prefix_chars="@"
    )
    parser.add_argument(
        "--parts", type=Path, nargs="+", required=True, help="its parts; or @FILE, one a line"
    )
    parser.add_argument("--manifest", type=Path, required=True, help="the list of documents to write")
    parser.add_argument("--output", type=Path, required=True, help="stats.json to write")
    parser.add_argument("--recipe", required=True, help="JSON: what decided the corpus, as recorded")
    arguments = parser.parse_args()
    try:
        recipe = json.loads(arguments.recipe)
    except json.JSONDecodeError as error:
        raise PubmillError(f"--recipe: not valid JSON: {error}") from None
    rows = write_manifest(arguments.manifest, arguments.parts)
    stats = total([part.with_suffix(".json") for part in arguments.parts], rows)
    write_json(arguments.output, {**stats, "recipe": recipe})
    print(f"{stats['documents']} documents of {stats['parsed']}, {stats['words']} words")


if __name__ == "__main__":
    run(main)
