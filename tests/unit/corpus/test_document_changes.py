"""Differences between two states of a corpus's sources, against a plain model."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus.document_changes import changes
from pubmill.corpus.shards import Document, write_shard
from pubmill.errors import PubmillError

Event = tuple[int, int, str]  # PMID, version, what happens
Records = dict[tuple[int, int], tuple[int, int, str]]


def documents(events: list[Event]) -> list[Document]:
    return [
        Document(
            id=f"pmid:{pmid}", version=version, deleted=kind == "gone",
            flags=("retracted",) if kind == "retracted" else (),
        )
        for pmid, version, kind in events
    ]  # fmt: skip


def current(files: list[list[Event]]) -> tuple[dict[int, tuple[int, int, str]], set[int]]:
    """Return the place and kind of each document after loading the files, and all PMIDs that were met."""
    records: Records = {}
    for number, file in enumerate(files):
        for position, (pmid, version, kind) in enumerate(file):
            records[pmid, version] = (number, position, kind)
    there = {key: place for key, place in records.items() if place[2] != "gone"}
    return {pmid: place for (pmid, _), place in sorted(there.items())}, {pmid for pmid, _ in records}


def model(files: list[list[Event]], cut: int) -> dict[str, int]:
    old, met = current(files[:cut])
    new, _ = current(files)
    found: dict[str, int] = {}
    for pmid in old.keys() | new.keys():
        if pmid not in old:
            kind = "reappeared" if pmid in met else "new"
        elif pmid not in new:
            kind = "deleted"
        elif new[pmid][2] == "retracted" != old[pmid][2]:
            kind = "retracted"
        elif new[pmid] != old[pmid]:
            kind = "revised"
        else:
            continue
        found[kind] = found.get(kind, 0) + 1
    return found


EVENT = st.tuples(st.integers(1, 6), st.integers(1, 2), st.sampled_from(["kept", "retracted", "gone"]))


@settings(max_examples=40)
@given(files=st.lists(st.lists(EVENT, max_size=6), min_size=1, max_size=4), cut=st.integers(0, 4))
def test_as_the_plain_model(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[Event]], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("changes")
    paths = [folder / f"{number}.parquet" for number in range(len(files))]
    for number, (path, file) in enumerate(zip(paths, files, strict=True)):
        write_shard(path, documents(file), source="s", file="f", order=number)
    found = changes(dict.fromkeys(paths[:cut], 0), dict.fromkeys(paths, 0), folder / "x")
    assert {one.kind: one.documents for one in found} == model(files, cut)
    assert sorted(folder.iterdir()) == paths


def test_another_year_and_other_sources(tmp_path: Path) -> None:
    """The same documents in other files are revised; an id of a source with more authority hides others."""
    for name, ids in (("26", (1, 2)), ("27", (1, 3)), ("other", (3, 4))):
        write_shard(
            tmp_path / f"{name}.parquet", documents([(n, 1, "kept") for n in ids]),
            source="s", file="f", order=int(name) if name.isdigit() else 0,
        )  # fmt: skip
    old, new, other = (tmp_path / f"{name}.parquet" for name in ("26", "27", "other"))
    found = changes({old: 0, other: 1}, {new: 0, other: 1}, tmp_path / "x")
    assert [(one.kind, one.ids) for one in found] == [
        ("revised", ("pmid:1", "pmid:3")), ("deleted", ("pmid:2",)),
    ]  # fmt: skip
    assert changes({}, {}, tmp_path / "x") == []
    with pytest.raises(PubmillError, match="does not exist"):
        changes({}, {tmp_path / "none": 0}, tmp_path / "x")
