"""Write the lock of a corpus: its documents, and the files they came from.

    .venv/bin/python scripts/lock_corpus.py --manifest manifest.parquet --sources sources \\
        --output corpus.lock \\
        --recipe '{"files": [{"source": "pubmed", "folder": "HOST/PATH", "names": ["pubmed26n0001.xml.gz"]}]}'

Inputs: the corpus's manifest; for each source file, its record FILE.source.json, or the file if it has none.
Output: a parquet file without text, which may be published; with `lock:`, a corpus spec rebuilds the corpus
from it.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.locks import source_file, write_lock
from pubmill.errors import run
from pubmill.recipes.corpora import LockRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the lock of a corpus.")
    parser.add_argument("--manifest", type=Path, required=True, help="manifest.parquet of the corpus")
    parser.add_argument("--sources", type=Path, required=True, help="the folder of source files")
    parser.add_argument("--output", type=Path, required=True, help="corpus.lock to write")
    parser.add_argument("--recipe", required=True, help='JSON: {"files": [{source, folder, names}, ...]}')
    arguments = parser.parse_args()
    recipe = recipes.read(LockRecipe, arguments.recipe)
    files = [
        source_file(group.source, arguments.sources / group.folder / name)
        for group in recipe.files
        for name in group.names
    ]
    documents = write_lock(arguments.output, arguments.manifest, files)
    print(f"{documents} documents from {len(files)} files")


if __name__ == "__main__":
    run(main)
