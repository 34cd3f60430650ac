"""Write the lock of a corpus: its documents, and the files they came from, by their records FILE.source.json.
It has no text and may be published; with `lock:`, a corpus spec rebuilds the corpus from it."""

from pathlib import Path

from pubmill.corpus.document_versions import source_file, write_lock
from pubmill.recipes.corpora import LockRecipe
from pubmill.storage.files import read_json


def main(manifest: Path, sources: Path, output: Path, recipe: LockRecipe, statistics: Path) -> None:
    files = [
        source_file(group.source, sources / group.folder / name)
        for group in recipe.files
        for name in group.names
    ]
    documents = write_lock(output, manifest, files, read_json(statistics))
    print(f"{documents} documents from {len(files)} files")
