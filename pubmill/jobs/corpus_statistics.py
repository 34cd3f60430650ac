"""Write the list of a corpus's documents (id, version, date, part, row), and its totals: parsed, documents,
words, bytes, rejected by reason with samples, by source, by year. The recipe is only recorded in the
totals."""

from dataclasses import asdict
from pathlib import Path

from pubmill.corpus.statistics import total, write_manifest
from pubmill.recipes.corpora import StatisticsRecipe
from pubmill.storage.files import sealed, write_json
from pubmill.storage.parquet import part_files


def main(corpus: Path, parts: int, manifest: Path, output: Path, recipe: StatisticsRecipe) -> None:
    files = part_files(corpus, parts)
    rows = write_manifest(manifest, files)
    stats = total([part.with_suffix(".json") for part in files], rows)
    write_json(output, sealed({**stats, "recipe": asdict(recipe)}))
    print(f"{stats['documents']} documents of {stats['parsed']}, {stats['words']} words")
