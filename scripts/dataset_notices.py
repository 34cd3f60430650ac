"""List the documents of datasets that were retracted or revised, by the sources of a corpus.

    .venv/bin/python scripts/dataset_notices.py --recipe JSON --parsed results/full/corpora/parsed \\
        --results results/full --output results/full/corpora/pubmed-abstracts/dataset-notices.json

Inputs: the parsed shards of the corpus's sources, and the files below --results whose rows name PMIDs.
Output: dataset -> numbers of its documents and of those that the sources have, and those with a notice.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.dataset_documents import documents_in, notices_of, shards_of_sources
from pubmill.errors import run
from pubmill.recipes.corpora import DocumentsRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import sealed, write_json


def main(
    recipe: DocumentsRecipe,
    parsed: Annotated[Path, "folder with SOURCE/SHARD.parquet"],
    results: Annotated[Path, "folder of the files with PMIDs"],
    output: Annotated[Path, "JSON file to write"],
) -> None:
    shards = shards_of_sources(recipe, parsed)
    documents = {
        name: documents_in(results / file for file in files) for name, files in recipe.documents.items()
    }
    found = notices_of(shards, {name: set(filter(str.isdigit, ids)) for name, ids in documents.items()})
    write_json(output, sealed({"datasets": found}))
    for name, one in found.items():
        print(f"{name}: {len(one['marked'])} of {one['found']} documents with a notice")
        for notice in one["marked"]:
            print(f"  PMID {notice['pmid']}: {', '.join(notice['marks'])}")


if __name__ == "__main__":
    run(program(main))
