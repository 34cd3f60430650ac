"""Documents through the steps of a corpus: shards, latest versions, duplicates, parts and their totals."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.duplicates import write_duplicates, write_fingerprints
from pubmill.corpus.shards import Document, write_shard
from pubmill.corpus.statistics import select, total, write_manifest
from pubmill.recipes.corpora import SelectionRecipe


def write_shards(
    folder: Path, shards: Sequence[Sequence[Document]], sources: Sequence[str] = ("s",)
) -> list[Path]:
    """Write shards in the order of their files, of these sources in turn."""
    paths = [folder / f"shard-{number}.parquet" for number in range(len(shards))]
    for order, (path, documents) in enumerate(zip(paths, shards, strict=True)):
        write_shard(path, documents, source=sources[order % len(sources)], file="f", order=order)
    return paths


def find_duplicates(
    folder: Path, shards: Sequence[Path], recipe: SelectionRecipe, similarity: float | None
) -> Path:
    """Find the latest versions and then the duplicates, similar ones only if a `similarity` is given."""
    latest, copies = folder / "latest.parquet", folder / "duplicates.parquet"
    write_latest(latest, shards, [0] * len(shards))
    prints = [folder / f"prints-{number}.parquet" for number in range(len(shards))]
    for index, (shard, output) in enumerate(zip(shards, prints, strict=True)):
        write_fingerprints(shard, index, latest, recipe, None, output, similarity is not None)
    write_duplicates(copies, prints, similarity)
    return copies


def select_parts(
    folder: Path, shards: Sequence[Path], recipe: SelectionRecipe, copies: Path | None = None
) -> list[Path]:
    """Select the documents of each shard into a part, with its statistics beside it."""
    parts = [folder / f"part-{number:04d}.parquet" for number in range(len(shards))]
    for index, (shard, part) in enumerate(zip(shards, parts, strict=True)):
        latest, statistics = folder / "latest.parquet", part.with_suffix(".json")
        select(shard, index, latest, recipe, part, statistics, None, copies)
    return parts


def totals(folder: Path, parts: Sequence[Path]) -> dict[str, Any]:
    """Write the manifest of parts, and return their statistics together."""
    kept = write_manifest(folder / "manifest.parquet", parts)
    return total([part.with_suffix(".json") for part in parts], kept)
