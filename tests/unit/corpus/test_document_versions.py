"""The pass over ids against a plain model of NLM's rules."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus import document_versions as versions
from pubmill.corpus.document_versions import changes, write_latest
from pubmill.corpus.part_tables import read_reasons
from pubmill.corpus.shards import Document, write_shard
from pubmill.errors import PubmillError

Event = tuple[int, int, bool]  # PMID, version, deleted
Shard = tuple[int, int, list[Event]]  # source, order of the file, its rows


def latest(folder: Path, shards: list[Shard]) -> list[list[tuple[int, str | None]]]:
    paths = [folder / f"{index}.parquet" for index in range(len(shards))]
    for path, (_, order, events) in zip(paths, shards, strict=True):
        documents = (
            Document(id=f"pmid:{pmid}", version=version, deleted=gone) for pmid, version, gone in events
        )
        write_shard(path, documents, source="s", file="f", order=order)
    write_latest(folder / "latest.parquet", paths, [source for source, _, _ in shards])
    return [list(read_reasons(folder / "latest.parquet", index)) for index in range(len(shards))]


def model(shards: list[Shard]) -> dict[tuple[int, int], str | None]:
    """Replay the files by NLM's rules; return {(shard, position): reason}."""
    reasons: dict[tuple[int, int], str | None] = {}
    shown: dict[int, tuple[int, int]] = {}
    for source in sorted({source for source, _, _ in shards}):
        records: dict[tuple[int, int], tuple[int, int]] = {}
        last: dict[tuple[int, int], tuple[int, int]] = {}
        files = [(order, index) for index, (owner, order, _) in enumerate(shards) if owner == source]
        for _, index in sorted(files):
            for position, (pmid, version, gone) in enumerate(shards[index][2]):
                key = (pmid, version)
                if gone:
                    if key in last:
                        reasons[last[key]] = "deleted"
                    records.pop(key, None)
                else:
                    if key in last:
                        reasons[last[key]] = "superseded"
                    last[key] = records[key] = (index, position)
        for pmid, version in sorted(records, reverse=True):
            place = records[pmid, version]
            highest = max(number for other, number in records if other == pmid)
            if version < highest:
                reasons[place] = "superseded"
            elif pmid in shown:
                reasons[place] = "duplicate"
            else:
                shown[pmid] = place
                reasons[place] = None
    return reasons


events = st.tuples(st.integers(1, 4), st.integers(1, 2), st.booleans())
shards = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 4), st.lists(events, max_size=6)), min_size=1, max_size=5
)


@settings(max_examples=40)
@given(shards=shards)
def test_as_the_plain_model(tmp_path_factory: pytest.TempPathFactory, shards: list[Shard]) -> None:
    found = latest(tmp_path_factory.mktemp("latest"), shards)
    accounted = {(index, position): reason for index, rows in enumerate(found) for position, reason in rows}
    assert accounted == model(shards)


ONE, TWO, GONE = (1, 1, False), (1, 2, False), (1, 1, True)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([(0, 2, [ONE]), (0, 1, [ONE])], [[(0, None)], [(0, "superseded")]]),
        ([(0, 1, [ONE]), (0, 2, [GONE])], [[(0, "deleted")], []]),
        ([(0, 1, [ONE]), (0, 2, [GONE]), (0, 3, [ONE])], [[(0, "superseded")], [], [(0, None)]]),
        ([(0, 1, [ONE, TWO]), (0, 2, [ONE])], [[(0, "superseded"), (1, None)], [(0, "superseded")]]),
        ([(0, 1, [ONE, TWO]), (0, 2, [(1, 2, True)])], [[(0, None), (1, "deleted")], []]),
        ([(1, 9, [(1, 3, False)]), (0, 1, [ONE])], [[(0, "duplicate")], [(0, None)]]),
    ],
)
def test_by_hand(tmp_path: Path, files: list[Shard], expected: list[list[tuple[int, str | None]]]) -> None:
    """The later file, the higher version and the first source count; what is deleted can come back."""
    assert latest(tmp_path, files) == expected


def test_same_input_same_bytes(tmp_path: Path) -> None:
    files: list[Shard] = [(0, n, [(pmid, 1, False) for pmid in range(n, 3000)]) for n in range(4)]
    latest(tmp_path, files)
    first = (tmp_path / "latest.parquet").read_bytes()
    latest(tmp_path, files)
    assert (tmp_path / "latest.parquet").read_bytes() == first


def test_what_a_killed_process_spilled_is_cleared(tmp_path: Path) -> None:
    code = (
        "import os, signal; from pathlib import Path; from pubmill.storage.files import temporary_name;"
        f"temporary_name(Path({str(tmp_path / 'latest.spill')!r})).mkdir();"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=False)
    assert len(list(tmp_path.glob(".latest.spill.*"))) == 1
    latest(tmp_path, [(0, 1, [(1, 1, False)])])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.parquet", "latest.parquet"]


def test_spilling_is_beside_the_output_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "MEMORY", "40MB")
    latest(tmp_path, [(0, n, [(pmid, 1, False) for pmid in range(200_000)]) for n in range(3)])
    assert not list(tmp_path.glob(".*"))


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="does not exist"):
        write_latest(tmp_path / "l.parquet", [tmp_path / "none.parquet"], [0])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 this is not parquet PAR1")
    with pytest.raises(PubmillError, match=r"bad\.parquet is damaged: it is no whole"):
        write_latest(tmp_path / "l.parquet", [tmp_path / "bad.parquet"], [0])
    with pytest.raises(PubmillError, match="more than once"):
        write_latest(tmp_path / "l.parquet", [tmp_path / "bad.parquet"] * 2, [0, 0])
    assert [path.name for path in tmp_path.iterdir()] == ["bad.parquet"]


Record = tuple[int, int, str]  # PMID, version, what happens
Records = dict[tuple[int, int], tuple[int, int, str]]


def documents(events: list[Record]) -> list[Document]:
    return [
        Document(
            id=f"pmid:{pmid}", version=version, deleted=kind == "gone",
            flags=("retracted",) if kind == "retracted" else (),
        )
        for pmid, version, kind in events
    ]  # fmt: skip


def current(files: list[list[Record]]) -> tuple[dict[int, tuple[int, int, str]], set[int]]:
    """Return the place and kind of each document after loading the files, and all PMIDs that were met."""
    records: Records = {}
    for number, file in enumerate(files):
        for position, (pmid, version, kind) in enumerate(file):
            records[pmid, version] = (number, position, kind)
    there = {key: place for key, place in records.items() if place[2] != "gone"}
    return {pmid: place for (pmid, _), place in sorted(there.items())}, {pmid for pmid, _ in records}


def changes_of(files: list[list[Record]], cut: int) -> dict[str, int]:
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
def test_changes_as_the_plain_model(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[Record]], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("changes")
    paths = [folder / f"{number}.parquet" for number in range(len(files))]
    for number, (path, file) in enumerate(zip(paths, files, strict=True)):
        write_shard(path, documents(file), source="s", file="f", order=number)
    found = changes(dict.fromkeys(paths[:cut], 0), dict.fromkeys(paths, 0), folder / "x")
    assert {one.kind: one.documents for one in found} == changes_of(files, cut)
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
