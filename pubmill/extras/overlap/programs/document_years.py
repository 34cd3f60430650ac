"""Look up the years of publication of datasets' documents in the sources of a corpus.

    .venv/bin/python pubmill/extras/overlap/programs/document_years.py --recipe JSON \\
        --parsed results/full/corpora/parsed \\
        --results results/full --output results/full/corpora/pubmed-abstracts/document-years.json

Inputs: the parsed shards of the corpus's sources, and the files below --results whose rows name PMIDs.
Output: dataset -> PMID -> year, for the documents that the sources have.
"""

from pathlib import Path
from typing import Annotated

from pubmill.corpus.dataset_documents import documents_in, shards_of_sources, years_of
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
    years = years_of(shards, set().union(*documents.values()))
    dated = {name: {one: years[one] for one in pmids if one in years} for name, pmids in documents.items()}
    write_json(output, sealed(dated))
    for name, pmids in documents.items():
        print(f"{name}: the year of {len(dated[name])} of {len(pmids)} documents")


if __name__ == "__main__":
    run(program(main))
