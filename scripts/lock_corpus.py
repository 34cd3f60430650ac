"""Write the lock of a corpus: its documents, and the files they came from.

    .venv/bin/python scripts/lock_corpus.py --manifest manifest.parquet --statistics stats.json \\
        --sources sources --output corpus.lock \\
        --recipe '{"files": [{"source": "pubmed", "folder": "HOST/PATH", "names": ["pubmed26n0001.xml.gz"]}]}'

Inputs: the corpus's manifest and statistics; for each source file, its record FILE.source.json, or the file
if it has none.
Output: a parquet file without text, which may be published; with `lock:`, a corpus spec rebuilds the corpus
from it.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.locks import source_file, write_lock
from pubmill.errors import run
from pubmill.recipes.corpora import LockRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import read_json


def main(
    manifest: Annotated[Path, "manifest.parquet of the corpus"],
    sources: Annotated[Path, "the folder of source files"],
    output: Annotated[Path, "corpus.lock to write"],
    recipe: LockRecipe,
    statistics: Annotated[Path, "stats.json of the corpus"],
) -> None:
    files = [
        source_file(group.source, sources / group.folder / name)
        for group in recipe.files
        for name in group.names
    ]
    documents = write_lock(output, manifest, files, read_json(statistics))
    print(f"{documents} documents from {len(files)} files")


if __name__ == "__main__":
    run(program(main))
