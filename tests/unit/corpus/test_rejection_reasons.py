"""For all documents and filters, each document is kept or has exactly one reason."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.duplicates import write_duplicates
from pubmill.corpus.fingerprints import write_fingerprints
from pubmill.corpus.shards import Document, write_shard
from pubmill.corpus.statistics import select, total, write_manifest
from pubmill.recipes.corpora import SelectionRecipe

SECTION = st.tuples(
    st.sampled_from(["", "AIM"]), st.sampled_from(["one", "one two", "three four five", "..."])
)
DOCUMENT = st.builds(
    Document,
    id=st.sampled_from([f"pmid:{n}" for n in range(12)]),
    version=st.integers(1, 2),
    date=st.sampled_from(["", "2001", "2001-02-03"]),
    published=st.sampled_from(["", "1999", "2001"]),
    languages=st.sampled_from([(), ("eng",), ("fre", "eng")]),
    types=st.sampled_from([(), ("Review",), ("Letter", "Review")]),
    title=st.sampled_from(["", "T"]),
    sections=st.lists(SECTION, max_size=2).map(tuple),
    body=st.lists(SECTION, max_size=2).map(tuple),
    flags=st.sampled_from([(), ("error",)]),
    deleted=st.booleans(),
)
SELECTION = st.builds(
    SelectionRecipe,
    parts=st.sampled_from([("abstract",), ("abstract", "body")]),
    min_words=st.sampled_from([None, 2]),
    languages=st.sampled_from([None, ("eng",)]),
    types=st.sampled_from([None, ("Review",)]),
    without_types=st.sampled_from([None, ("Letter",)]),
    requires=st.sampled_from([(), ("title", "body")]),
    published_from=st.sampled_from([None, 2000]),
    dated_to=st.sampled_from([None, "2001-02-02"]),
)


def made(
    folder: Path, shards: list[list[Document]], selection: SelectionRecipe
) -> tuple[dict[str, Any], list[str]]:
    """Return the statistics of the corpus of these shards, without duplicates, and its documents' ids."""
    paths = [folder / f"{n}.parquet" for n in range(len(shards))]
    for order, (path, documents) in enumerate(zip(paths, shards, strict=True)):
        write_shard(path, documents, source="s", file="f", order=order)
    latest, copies = folder / "latest.parquet", folder / "duplicates.parquet"
    write_latest(latest, paths, [0] * len(paths))
    prints = [folder / f"prints-{n}.parquet" for n in range(len(paths))]
    for index, (shard, output) in enumerate(zip(paths, prints, strict=True)):
        write_fingerprints(shard, index, latest, selection, None, output, similar=False)
    write_duplicates(copies, prints, None)
    parts = [folder / f"part-{n:04d}.parquet" for n in range(len(paths))]
    statistics = [part.with_suffix(".json") for part in parts]
    for index, shard in enumerate(paths):
        select(shard, index, latest, selection, parts[index], statistics[index], None, copies)
    stats = total(statistics, write_manifest(folder / "manifest.parquet", parts))
    return stats, [name for part in parts for name in pq.read_table(part)["id"].to_pylist()]


@settings(max_examples=20)
@given(documents=st.lists(DOCUMENT, max_size=25), selection=SELECTION, cut=st.integers(0, 25))
def test_counts_add_up_however_the_documents_are_divided(
    tmp_path_factory: pytest.TempPathFactory, documents: list[Document], selection: SelectionRecipe, cut: int
) -> None:
    stats, ids = made(tmp_path_factory.mktemp("whole"), [documents], selection)
    assert stats["parsed"] == sum(not document.deleted for document in documents)
    assert stats["parsed"] == stats["documents"] + sum(stats["rejected"].values())
    assert stats["documents"] == len(ids) == len(set(ids)) == sum(stats["years"].values())
    assert set(stats["samples"]) == set(stats["rejected"])
    shards = [documents[:cut], documents[cut:]]
    assert made(tmp_path_factory.mktemp("cut"), shards, selection) == (stats, ids)
