"""Measure a checkpoint on the held-out documents of its corpus, by date of publication.

    .venv/bin/python pubmill/extras/drift/programs/drift.py --recipe JSON --results results/full \\
        --corpus results/full/corpora/pubmed-abstracts --parsed results/full/corpora/parsed \\
        --vocab results/full/vocabs/pubmed-uncased --punkt punkt_tab.zip \\
        --checkpoint results/full/pretraining/pubmedbert/step-62500 --output drift.json

Inputs: the checkpoint, the parts of its corpus, their parsed shards, PubMed's files below --results, the
vocabulary, and NLTK's punkt_tab.zip. Output: losses by month and year of publication, and the vocabulary's
subwords per word by year (pubmill.report.charts.Drift). It has no text.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # as in scripts/pretrain.py

from pubmill.errors import run
from pubmill.extras.drift.drift_recipes import DriftRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import sealed, write_json
from pubmill.storage.parquet import access_of_parts, part_files
from pubmill.storage.privacy import keep_private


def main(
    recipe: DriftRecipe,
    results: Annotated[Path, "folder of the results"],
    corpus: Annotated[Path, "folder of the corpus, with its parts"],
    parsed: Annotated[Path, "folder with SOURCE/SHARD.parquet"],
    vocab: Annotated[Path, "folder of the vocabulary"],
    punkt: Annotated[Path, "NLTK's punkt_tab.zip"],
    checkpoint: Annotated[Path, "folder of the checkpoint"],
    output: Annotated[Path, "JSON file to write"],
) -> None:
    from pubmill.extras.drift.drift_losses import Places, measure_drift

    parts = part_files(corpus, len(recipe.shards))
    keep_private([*parts, vocab, checkpoint], access_of_parts(parts))
    with TemporaryDirectory(dir=output.parent) as folder:
        places = Places(checkpoint, parts, parsed, results, vocab, punkt)
        drift = measure_drift(recipe, places, Path(folder) / "packed")
    write_json(output, sealed(drift.model_dump()))
    print(
        f"{output}: {drift.documents} held-out documents, {drift.undated} without a year; "
        f"{len(drift.months)} months, {len(drift.years)} years"
    )


if __name__ == "__main__":
    run(program(main))
