"""List the documents of datasets that were retracted or revised, by the sources of a corpus: dataset ->
numbers of its documents and of those that the sources have, and those with a notice."""

from pathlib import Path

from pubmill.corpus.notices import documents_in, notices_of
from pubmill.recipes.corpora import DocumentsRecipe
from pubmill.storage.files import sealed, write_json


def main(recipe: DocumentsRecipe, parsed: Path, results: Path, output: Path) -> None:
    shards = [[parsed / one.name / f"{shard}.parquet" for shard in one.shards] for one in recipe.sources]
    documents = {
        name: documents_in(results / file for file in files) for name, files in recipe.documents.items()
    }
    found = notices_of(shards, {name: set(filter(str.isdigit, ids)) for name, ids in documents.items()})
    write_json(output, sealed({"datasets": found}))
    for name, one in found.items():
        print(f"{name}: {len(one['marked'])} of {one['found']} documents with a notice")
        for notice in one["marked"]:
            print(f"  PMID {notice['pmid']}: {', '.join(notice['marks'])}")
