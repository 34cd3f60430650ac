"""Real citations: pubmill reads all of their text, every version and deletion, every rejection."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pubmill.corpus import medline
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.medline import file_order, read_medline
from pubmill.corpus.own_texts import read_text
from pubmill.corpus.shards import Document, write_shard
from pubmill.corpus.statistics import select, total, write_manifest
from pubmill.recipes.corpora import SelectionRecipe

# File: citations, deletions.
FILES = {
    "baseline/pubmed26n0001.xml.gz": (700, 0), "baseline/pubmed26n0002.xml.gz": (700, 0),
    "baseline/pubmed26n0003.xml.gz": (698, 0), "baseline/pubmed26n1334.xml.gz": (30, 0),
    "updatefiles/pubmed26n1335.xml.gz": (30, 6), "updatefiles/pubmed26n1336.xml.gz": (53, 50),
}  # fmt: skip


@pytest.fixture(scope="module")
def pubmed(shared: Path) -> dict[str, list[Document]]:
    folder = shared / "mirror" / "ftp.ncbi.nlm.nih.gov" / "pubmed"
    return {name: list(read_medline(folder / name)) for name in FILES}


def test_counts(pubmed: dict[str, list[Document]]) -> None:
    found = {name: Counter(row.deleted for row in rows) for name, rows in pubmed.items()}
    assert {name: (count[False], count[True]) for name, count in found.items()} == FILES


def whole_tree(path: Path) -> list[tuple[str, str, list[tuple[str | None, str]]]]:
    """Return id, title and sections of every citation from the simplest reader: whole tree, XPath."""
    tree = etree.fromstring(
        gzip.decompress(path.read_bytes()), etree.XMLParser(load_dtd=False, no_network=True, recover=True)
    )

    def text(element: Any) -> str:
        return " ".join("".join(element.xpath(".//text()")).replace("\u00a0", "\0").split())

    return [
        (
            "pmid:" + citation.findtext("PMID", "").strip(),
            " ".join(text(title) for title in citation.findall("Article/ArticleTitle")),
            [(part.get("Label"), text(part)) for part in citation.findall("Article/Abstract/AbstractText")],
        )
        for citation in tree.iter("MedlineCitation")
    ]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_text_is_that_of_the_whole_tree(name: str, pubmed: dict[str, list[Document]], shared: Path) -> None:
    def same(text: str) -> str:
        return " ".join(text.replace("\u00a0", "\0").split())

    ours = [
        (row.id, same(row.title), [(label, same(text)) for label, text in row.sections])
        for row in pubmed[name]
        if not row.deleted
    ]
    path = shared / "mirror" / "ftp.ncbi.nlm.nih.gov" / "pubmed" / name
    theirs = [
        (pmid, title, [((label or "").strip(), text) for label, text in sections if text])
        for pmid, title, sections in whole_tree(path)
    ]
    assert ours == theirs


@pytest.mark.parametrize("name", FILES)
def test_every_field_is_that_of_a_tree(
    name: str, pubmed: dict[str, list[Document]], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medline, "read_usual", lambda article, text_of: None)
    assert pubmed[name] == list(read_medline(shared / "mirror" / "ftp.ncbi.nlm.nih.gov" / "pubmed" / name))


@pytest.mark.weekly
def test_versions_deletions_and_selection(
    tmp_path: Path, pubmed: dict[str, list[Document]], shared: Path
) -> None:
    texts = sorted((shared / "standins" / "abstracts").glob("*.jsonl.gz"))
    shards = [tmp_path / f"{index}.parquet" for index in range(len(FILES) + len(texts))]
    for shard, (name, rows) in zip(shards, pubmed.items(), strict=False):
        write_shard(shard, rows, source="pubmed", file=name, order=file_order(Path(name)))
    for shard, path in zip(shards[len(FILES) :], texts, strict=True):
        write_shard(shard, read_text(path, "standins"), source="standins", file=path.name, order=0)
    write_latest(tmp_path / "latest.parquet", shards, [0] * len(FILES) + [1] * len(texts))
    parts = [tmp_path / f"part-{index:04}.parquet" for index in range(len(shards))]
    recipe, latest = SelectionRecipe(min_words=128), tmp_path / "latest.parquet"
    for index, (shard, part) in enumerate(zip(shards, parts, strict=True)):
        select(shard, index, latest, recipe, part, part.with_suffix(".json"))
    statistics = [part.with_suffix(".json") for part in parts]
    kept = write_manifest(tmp_path / "manifest.parquet", parts)
    only_pubmed = total(statistics[: len(FILES)], kept[: len(FILES)])
    assert only_pubmed["rejected"] == {
        "no_abstract": 264, "too_short": 352, "superseded": 53, "deleted": 7,
    }  # fmt: skip
    everything = total(statistics, kept)
    counts = {key: everything[key] for key in ("parsed", "deletions", "documents", "words", "rejected")}
    assert counts == {
        "parsed": 57_860, "deletions": 56, "documents": 46_985, "words": 11_223_182,
        "rejected": {
            "no_abstract": 264, "superseded": 133, "too_short": 10_470, "deleted": 7, "duplicate": 1,
        },
    }  # fmt: skip
