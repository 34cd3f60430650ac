"""Look up the years of publication of datasets' documents in the sources of a corpus.

    .venv/bin/python scripts/document_years.py --recipe JSON --parsed results/full/corpora/parsed \\
        --results results/full --output results/full/corpora/pubmed-abstracts/document-years.json

Inputs: the parsed shards of the corpus's sources, and the files below --results whose rows name PMIDs.
Output: dataset -> PMID -> year, for the documents that the sources have.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.corpus.document_years import documents_in, years_of
from pubmill.errors import run
from pubmill.recipes.corpora import YearsRecipe
from pubmill.storage.files import sealed, write_json


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="JSON text or file: a YearsRecipe")
    parser.add_argument("--parsed", type=Path, required=True, help="folder with SOURCE/SHARD.parquet")
    parser.add_argument("--results", type=Path, required=True, help="folder of the files with PMIDs")
    parser.add_argument("--output", type=Path, required=True, help="JSON file to write")
    arguments = parser.parse_args()
    recipe = recipes.read(YearsRecipe, arguments.recipe)
    shards = [
        [arguments.parsed / source.name / f"{shard}.parquet" for shard in source.shards]
        for source in recipe.sources
    ]
    documents = {
        name: documents_in(arguments.results / file for file in files)
        for name, files in recipe.documents.items()
    }
    years = years_of(shards, set().union(*documents.values()))
    found = {name: {one: years[one] for one in pmids if one in years} for name, pmids in documents.items()}
    write_json(arguments.output, sealed(found))
    for name, pmids in documents.items():
        print(f"{name}: the year of {len(found[name])} of {len(pmids)} documents")


if __name__ == "__main__":
    run(main)
