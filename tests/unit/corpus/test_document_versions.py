"""The pass over ids against a plain model of NLM's rules."""

import os
import signal
from itertools import repeat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.corpus import document_versions as versions
from pubmill.corpus.document_versions import write_latest
from pubmill.corpus.shards import Document, read_reasons, write_shard
from pubmill.errors import PubmillError
from pubmill.storage.files import temporary_name

Event = tuple[int, int, bool]  # PMID, version, deleted
Shard = tuple[int, int, list[Event]]  # source, order of the file, its rows
events = st.tuples(st.integers(1, 4), st.integers(1, 2), st.booleans())
shards = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 4), st.lists(events, max_size=6)), min_size=1, max_size=5
)
ONE, TWO, GONE = (1, 1, False), (1, 2, False), (1, 1, True)


def latest(folder: Path, shards: list[Shard]) -> list[list[tuple[int, str | None]]]:
    paths = [folder / f"{index}.parquet" for index in range(len(shards))]
    for path, (_, order, events) in zip(paths, shards, strict=True):
        documents = (
            Document(id=f"pmid:{pmid}", version=version, deleted=gone) for pmid, version, gone in events
        )
        write_shard(path, documents, source="s", file="f", order=order)
    write_latest(folder / "latest.parquet", paths, [source for source, _, _ in shards])
    return [list(read_reasons(folder / "latest.parquet", index).items()) for index in range(len(shards))]


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


@settings(max_examples=25)
@given(shards=shards)
def test_as_the_plain_model(tmp_path_factory: pytest.TempPathFactory, shards: list[Shard]) -> None:
    found = latest(tmp_path_factory.mktemp("latest"), shards)
    accounted = {(index, position): reason for index, rows in enumerate(found) for position, reason in rows}
    assert accounted == model(shards)


@pytest.mark.parametrize(("files", "expected"), [
    ([(0, 2, [ONE]), (0, 1, [ONE])], [[(0, None)], [(0, "superseded")]]),
    ([(0, 1, [ONE]), (0, 2, [GONE])], [[(0, "deleted")], []]),
    ([(0, 1, [ONE]), (0, 2, [GONE]), (0, 3, [ONE])], [[(0, "superseded")], [], [(0, None)]]),
    ([(0, 1, [ONE, TWO]), (0, 2, [ONE])], [[(0, "superseded"), (1, None)], [(0, "superseded")]]),
    ([(0, 1, [ONE, TWO]), (0, 2, [(1, 2, True)])], [[(0, None), (1, "deleted")], []]),
    ([(1, 9, [(1, 3, False)]), (0, 1, [ONE])], [[(0, "duplicate")], [(0, None)]]),
])  # fmt: skip
def test_by_hand(tmp_path: Path, files: list[Shard], expected: list[list[tuple[int, str | None]]]) -> None:
    """The later file, the higher version and the first source count; what is deleted can come back."""
    assert latest(tmp_path, files) == expected


def test_spilling_leaves_nothing_and_same_input_gives_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[Shard] = [(0, n, [(pmid, 1, False) for pmid in range(n, 300)]) for n in range(4)]
    latest(tmp_path, files)
    first = (tmp_path / "latest.parquet").read_bytes()
    latest(tmp_path, files)
    assert (tmp_path / "latest.parquet").read_bytes() == first
    monkeypatch.setattr(versions, "MEMORY", "40MB")
    latest(tmp_path, [(0, n, [(pmid, 1, False) for pmid in range(100_000)]) for n in range(3)])
    assert not list(tmp_path.glob(".*"))


def test_what_a_killed_process_spilled_is_cleared(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        temporary_name(tmp_path / "latest.spill").mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list(tmp_path.glob(".latest.spill.*"))) == 1
    latest(tmp_path, [(0, 1, [(1, 1, False)])])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.parquet", "latest.parquet"]


def test_what_is_missing_damaged_or_given_twice_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="does not exist"):
        write_latest(tmp_path / "l.parquet", [tmp_path / "none.parquet"], [0])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 this is not parquet PAR1")
    with pytest.raises(PubmillError, match=r"bad\.parquet is damaged: it is no whole"):
        write_latest(tmp_path / "l.parquet", [tmp_path / "bad.parquet"], [0])
    with pytest.raises(PubmillError, match="more than once"):
        write_latest(tmp_path / "l.parquet", [tmp_path / "bad.parquet"] * 2, [0, 0])
    assert [path.name for path in tmp_path.iterdir()] == ["bad.parquet"]
    with pytest.raises(PubmillError, match="none does not exist; find the latest versions and"):
        read_reasons(tmp_path / "none", 0)


@pytest.mark.parametrize("rows_per_group", [1, 2, 3, 100])
def test_parts_are_found_in_row_groups_of_any_size(rows_per_group: int, tmp_path: Path) -> None:
    table, sizes = tmp_path / "duplicates.parquet", [3, 0, 1, 5, 0]
    shards = [shard for shard, size in enumerate(sizes) for _ in repeat(None, size)]
    rows = {
        "shard": pa.array(shards, pa.int32()), "position": range(9), "reason": [f"r{n}" for n in range(9)],
    }  # fmt: skip
    pq.write_table(pa.table(rows), table, row_group_size=rows_per_group)
    for shard in range(6):
        assert read_reasons(table, shard) == {n: f"r{n}" for n in range(9) if shards[n] == shard}
