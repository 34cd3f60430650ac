"""Write the totals of a corpus and the list of its documents.

    .venv/bin/python scripts/corpus_statistics.py --corpus corpora/CORPUS --parts 2 \\
        --manifest manifest.parquet --output stats.json --recipe '{"corpus": "CORPUS"}'

Inputs: the parts of a corpus (part-0000.parquet ...), each with its statistics beside it (part-0000.json).
Outputs: the manifest (id, version, date, part, row), and the totals: parsed, documents, words, bytes,
rejected by reason with samples, by source, by year. The recipe is only recorded in the totals.
"""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.statistics import total, write_manifest
from pubmill.errors import run
from pubmill.recipes.corpora import StatisticsRecipe
from pubmill.storage.corpus_parts import part_files
from pubmill.storage.files import sealed, write_json


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a corpus's totals and list of documents.")
    parser.add_argument("--corpus", required=True, type=Path, help="folder of the corpus, with its parts")
    parser.add_argument("--parts", required=True, type=int, help="number of parts")
    parser.add_argument("--manifest", type=Path, required=True, help="the list of documents to write")
    parser.add_argument("--output", type=Path, required=True, help="stats.json to write")
    parser.add_argument("--recipe", required=True, help='JSON: {"corpus": name}, to be recorded')
    arguments = parser.parse_args()
    parts = part_files(arguments.corpus, arguments.parts)
    recipe = recipes.read(StatisticsRecipe, arguments.recipe)
    rows = write_manifest(arguments.manifest, parts)
    stats = total([part.with_suffix(".json") for part in parts], rows)
    write_json(arguments.output, sealed({**stats, "recipe": asdict(recipe)}))
    print(f"{stats['documents']} documents of {stats['parsed']}, {stats['words']} words")


if __name__ == "__main__":
    run(main)
