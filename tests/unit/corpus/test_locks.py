"""A corpus rebuilt from its lock with files of another year."""

from hashlib import md5, sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus.document_versions import (
    LOCK,
    SourceFile,
    read_files,
    source_file,
    write_latest,
    write_lock,
    write_locked,
)
from pubmill.corpus.shards import Document, write_shard
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import SelectionRecipe
from pubmill.storage.files import read_json
from tests.unit.corpus.toy_corpus import select_parts, totals


def source(name: str, file: str, md5: str, sha256: str) -> SourceFile:
    return SourceFile(source=name, file=file, md5=md5, sha256=sha256)


FILES = [source("pubmed", "pubmed26n0001.xml.gz", "0" * 32, "1" * 64)]


def citation(pmid: int, date: str = "2025-01-01", version: int = 1, words: int = 4) -> Document:
    sections = (("", " ".join(["word"] * words)),) if words else ()
    return Document(id=f"pmid:{pmid}", version=version, date=date, sections=sections)


def build(folder: Path, year: int, files: list[list[Document]], lock: Path | None = None) -> dict[str, int]:
    """Make the corpus from one year's files in `folder`; return the rejections."""
    folder.mkdir()
    shards = [folder / f"pubmed{year}n{number:04d}.parquet" for number in range(1, len(files) + 1)]
    for number, (shard, rows) in enumerate(zip(shards, files, strict=True), 1):
        write_shard(shard, rows, source="pubmed", file=shard.name, order=year * 10_000 + number)
    latest, ranks = folder / "latest.parquet", [0] * len(shards)
    if lock:
        write_locked(latest, shards, ranks, lock, folder / "lock.json", folder / "differences.parquet")
    else:
        write_latest(latest, shards, ranks)
    found = totals(folder, select_parts(folder, shards, SelectionRecipe(min_words=3)))
    assert write_lock(folder / "corpus.lock", folder / "manifest.parquet", FILES) == found["documents"]
    rejected: dict[str, int] = found["rejected"]
    return rejected


def documents(path: Path) -> list[tuple[str, int, str]]:
    table = pq.read_table(path, columns=["id", "version", "date"])
    return sorted(zip(*table.to_pydict().values(), strict=True))


FIRST = [
    [citation(1), citation(2), citation(3), citation(4, words=1), citation(20)],
    [citation(2, "2025-02-02"), citation(5), citation(6, version=2)],
]


def test_files_numbered_anew_give_the_same_corpus(tmp_path: Path) -> None:
    build(tmp_path / "old", 26, FIRST)
    lock = tmp_path / "old" / "corpus.lock"
    assert documents(lock) == documents(tmp_path / "old" / "manifest.parquet")
    assert pq.read_schema(lock).names == LOCK.names
    assert pq.read_table(lock)["id"].to_pylist() == sorted(pq.read_table(lock)["id"].to_pylist())
    assert read_files(lock) == FILES
    anew = [
        [citation(6, version=2), citation(20), citation(5)],
        [citation(9), citation(4, words=1), citation(3)],
        [citation(1), citation(2, "2025-02-02"), citation(3)],
    ]
    rejected = build(tmp_path / "new", 27, anew, lock)
    assert documents(tmp_path / "new" / "manifest.parquet") == documents(lock)
    assert documents(tmp_path / "new" / "corpus.lock") == documents(lock)
    assert rejected == {"not_in_lock": 2, "superseded": 1}
    report = read_json(tmp_path / "new" / "lock.json")
    counts = {key: report[key] for key in ("locked", "exact", "changed", "gone")}
    assert counts == {"locked": 6, "exact": 6, "changed": 0, "gone": 0}
    assert report["locked_files"][0]["file"] == "pubmed26n0001.xml.gz"


def test_what_was_revised_or_withdrawn_since_is_reported(tmp_path: Path) -> None:
    build(tmp_path / "old", 26, FIRST)
    anew = [
        [citation(1), citation(2, "2025-02-02"), citation(3, "2026-05-05"), citation(6, version=3)],
        [citation(1, "2026-06-06"), Document(id="pmid:2", deleted=True), citation(3, "2026-07-07")],
    ]
    build(tmp_path / "new", 27, anew, tmp_path / "old" / "corpus.lock")
    # A later revision and a deletion don't hide what the lock has.
    kept = [("pmid:1", 1, "2025-01-01"), ("pmid:2", 1, "2025-02-02")]
    assert documents(tmp_path / "new" / "manifest.parquet") == kept
    report = read_json(tmp_path / "new" / "lock.json")
    assert (report["exact"], report["changed"], report["gone"]) == (2, 2, 2)
    assert report["samples"] == {"changed": ["pmid:3", "pmid:6"], "gone": ["pmid:20", "pmid:5"]}
    assert pq.read_table(tmp_path / "new" / "differences.parquet").to_pylist() == [
        {"id": pmid, "version": version, "date": "2025-01-01", "file": file, "status": status,
         "found_version": found, "found_date": date}
        for pmid, version, file, status, found, date in [
            ("pmid:20", 1, 0, "gone", None, None), ("pmid:3", 1, 0, "changed", 1, "2026-07-07"),
            ("pmid:5", 1, 1, "gone", None, None), ("pmid:6", 2, 1, "changed", 3, "2025-01-01"),
        ]
    ]  # fmt: skip


def test_a_file_that_is_gone_is_named_with_what_is_lost(tmp_path: Path) -> None:
    """Two files of the lock are no longer there; one of the documents of the first is in a later file."""
    files = [source("pubmed", f"f{n}.xml.gz", str(n) * 32, str(n) * 64) for n in range(3)]
    rows = [[citation(1), citation(2), citation(3)], [citation(4)], [citation(5), citation(6)]]
    build(tmp_path / "old", 26, rows)
    write_lock(tmp_path / "day.lock", tmp_path / "old/manifest.parquet", files)
    later = [citation(1), citation(3, "2026-02-02"), citation(6)]
    shards = [tmp_path / "kept.parquet", tmp_path / "later.parquet"]
    write_shard(shards[0], rows[2], source="pubmed", file="renamed", order=1, digest=files[2].sha256)
    write_shard(shards[1], later, source="pubmed", file="g", order=2, digest="9" * 64)
    write_locked(
        tmp_path / "latest.parquet", shards, [0, 0], tmp_path / "day.lock", tmp_path / "lock.json",
        tmp_path / "differences.parquet",
    )  # fmt: skip
    keys = ("source", "file", "sha256", "documents", "changed", "gone")
    assert read_json(tmp_path / "lock.json")["absent_files"] == [
        dict(zip(keys, ("pubmed", "f0.xml.gz", "0" * 64, 3, 1, 1), strict=True)),
        dict(zip(keys, ("pubmed", "f1.xml.gz", "1" * 64, 1, 0, 1), strict=True)),
    ]


days = st.sampled_from(["2025-01-01", "2025-01-02", ""])
rows = st.lists(st.tuples(st.integers(1, 5), days, st.integers(1, 2), st.booleans()), max_size=8)


@settings(max_examples=4)
@given(old=st.lists(rows, min_size=1, max_size=2), new=st.lists(rows, min_size=1, max_size=3))
def test_locked_documents_are_exact_changed_or_gone(
    tmp_path_factory: pytest.TempPathFactory, old: list[list[Any]], new: list[list[Any]]
) -> None:
    def made(files: list[list[Any]]) -> list[list[Document]]:
        return [
            [Document(id=f"pmid:{n}", version=v, deleted=True) if gone else citation(n, day, v)
             for n, day, v, gone in rows]
            for rows in files
        ]  # fmt: skip

    folder = tmp_path_factory.mktemp("x")
    build(folder / "old", 26, made(old))
    build(folder / "new", 27, made(new), folder / "old" / "corpus.lock")
    locked = documents(folder / "old" / "corpus.lock")
    there = {(f"pmid:{n}", v, day) for rows in new for n, day, v, gone in rows if not gone}
    ids = {one[0] for one in there}
    assert documents(folder / "new" / "manifest.parquet") == [one for one in locked if one in there]
    report = read_json(folder / "new" / "lock.json")
    assert report["exact"] == sum(one in there for one in locked)
    assert report["changed"] == sum(one not in there and one[0] in ids for one in locked)
    assert report["gone"] == sum(one[0] not in ids for one in locked)


def test_digests_are_those_of_the_record_or_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f.xml.gz"
    with pytest.raises(PubmillError, match="does not exist and has no record of its digests"):
        source_file("s", path)
    path.write_bytes(b"abc")
    digests = md5(b"abc").hexdigest(), sha256(b"abc").hexdigest()
    assert source_file("s", path) == source("s", "f.xml.gz", *digests)
    (tmp_path / "f.xml.gz.source.json").write_text('{"md5": "m", "sha256": "s"}')
    assert source_file("s", path) == source("s", "f.xml.gz", "m", "s")
    (tmp_path / "f.xml.gz.source.json").write_text("{}")
    assert source_file("s", path) == source("s", "f.xml.gz", *digests)


def test_what_is_no_lock_is_reported(tmp_path: Path) -> None:
    build(tmp_path / "old", 26, FIRST)
    for path, word in (("none", "does not exist"), ("manifest.parquet", "is no lock of a corpus")):
        with pytest.raises(PubmillError, match=word):
            build(tmp_path / f"new-{path}", 27, FIRST, tmp_path / "old" / path)
    (tmp_path / "broken").write_bytes(b"PAR1 nothing")
    with pytest.raises(PubmillError, match="broken is damaged: it is no whole Parquet file"):
        read_files(tmp_path / "broken")
    pq.write_table(LOCK.empty_table().drop_columns(["date"]), tmp_path / "corpus.lock")
    with pytest.raises(PubmillError, match="is no lock of a corpus .its columns are not id, version, date"):
        read_files(tmp_path / "corpus.lock")
    manifest = pq.read_table(tmp_path / "old" / "manifest.parquet")
    pq.write_table(manifest.take([0, 0, 1]), tmp_path / "manifest.parquet")
    write_lock(tmp_path / "twice.lock", tmp_path / "manifest.parquet", FILES)
    with pytest.raises(PubmillError, match="has pmid:1 more than once"):
        build(tmp_path / "new", 27, FIRST, tmp_path / "twice.lock")
    assert not (tmp_path / "new" / "latest.parquet").exists()


@pytest.mark.parametrize(("files", "message"), [
    (b"\xff", "is no lock of a corpus"), (b"[" * 100_000, "is no lock of a corpus"),
    (b"{}", "is no lock of a corpus .its source files are no list"),
    (b'[{"source": "s", "file": "f", "md5": "0"}]', "source file 1: .*\n.*sha256"),
    (b'[{"source": "s", "file": "f", "md5": "0", "sha256": 5}]', "source file 1: .*\n.*sha256"),
])  # fmt: skip
def test_source_files_of_another_form_are_reported(tmp_path: Path, files: bytes, message: str) -> None:
    empty = LOCK.empty_table().replace_schema_metadata({"files": files})
    pq.write_table(empty, tmp_path / "corpus.lock")
    with pytest.raises(PubmillError, match=rf"corpus\.lock.*{message}"):
        read_files(tmp_path / "corpus.lock")
