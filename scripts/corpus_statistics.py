"""Write the totals of a corpus and the list of its documents.

    .venv/bin/python scripts/corpus_statistics.py --corpus corpora/CORPUS --parts 2 \\
        --manifest manifest.parquet --output stats.json --recipe '{"corpus": "CORPUS"}'

Inputs: the parts of a corpus (part-0000.parquet ...), each with its statistics beside it (part-0000.json).
Outputs: the manifest (id, version, date, part, row), and the totals: parsed, documents, words, bytes,
rejected by reason with samples, by source, by year. The recipe is only recorded in the totals.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from pubmill.corpus.statistics import total, write_manifest
from pubmill.errors import run
from pubmill.recipes.corpora import StatisticsRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import sealed, write_json
from pubmill.storage.parquet import part_files


def main(
    corpus: Annotated[Path, "folder of the corpus, with its parts"],
    parts: Annotated[int, "number of parts"],
    manifest: Annotated[Path, "the list of documents to write"],
    output: Annotated[Path, "stats.json to write"],
    recipe: StatisticsRecipe,
) -> None:
    files = part_files(corpus, parts)
    rows = write_manifest(manifest, files)
    stats = total([part.with_suffix(".json") for part in files], rows)
    write_json(output, sealed({**stats, "recipe": asdict(recipe)}))
    print(f"{stats['documents']} documents of {stats['parsed']}, {stats['words']} words")


if __name__ == "__main__":
    run(program(main))
