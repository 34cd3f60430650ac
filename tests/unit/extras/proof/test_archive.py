"""What a proof holds, that it holds no text, and its counts in the smallest numbers that hold them."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from pubmill.errors import PubmillError
from pubmill.extras.proof.archive import by_test_set, count_array, count_names, masked_names, read_runs
from pubmill.extras.proof.assembling import assembled
from pubmill.extras.proof.verifier.command import verified
from pubmill.extras.proof.verifier.container import SUMS, unpack
from pubmill.extras.proof.verifier.verification import check_proof
from pubmill.metrics.contributions import Contributions, Items, read_items, write_items
from pubmill.metrics.records import write_record
from pubmill.storage.files import write_json, write_jsonl_gz
from pubmill.storage.result_paths import BELOW, RunKey
from tests.unit import toy_tables
from tests.unit.extras.proof import toy_proof as toy
from tests.world.part import CANARY


def plain(content: bytes) -> bytes:
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


def test_no_text_of_a_dataset_is_in_it(data: bytes, results: Path) -> None:
    assert CANARY in gzip.decompress((results / BELOW.examples("words", "test")).read_bytes()).decode()
    members = unpack(data)
    assert len(members) > 60
    for name, content in members.items():
        assert CANARY.encode() not in plain(content), name


def test_items_are_of_open_datasets_only(data: bytes) -> None:
    members = unpack(data)
    runs = toy.read(members, "runs.json.gz")
    gold = {one["dataset"]: one["gold"] for one in runs["sets"]}
    assert {name for name, member in gold.items() if member} == set(toy.OPEN)
    assert len(toy.names_of(members, "items/runs/")) == len(toy.OPEN) * len(toy.MODELS) * toy.SEEDS
    first = toy.read(members, gold["words"])[0]
    assert first.keys() == {"id", "document", "labels", "layers"}


def test_a_licensed_dataset_has_counts_and_hashes_only(data: bytes) -> None:
    members = unpack(data)
    runs = toy.read(members, "runs.json.gz")
    [known] = [one for one in runs["sets"] if one["dataset"] == toy.SECRET]
    assert known["gold"] is None and known["negative"] is None
    labels = {name.split(":", 2)[2] for name in known["names"] if name.count(":") == 2}
    assert labels == {"000000", "000001", "000002"}
    own = [run for path, run in runs["runs"].items() if f"/{toy.SECRET}/" in path]
    assert len(own) == 9 and all(run["items"] is None and len(run["record_sha256"]) == 64 for run in own)


def test_the_label_in_the_data_counts_more_than_the_recipe(results: Path) -> None:
    """A dataset whose card says that it is not public has no items, even if its spec says otherwise."""
    members = unpack(toy.again(results, open_datasets=(*toy.OPEN, toy.SECRET, "questions")))
    sets = toy.read(members, "runs.json.gz")["sets"]
    assert {one["dataset"] for one in sets if one["gold"]} == set(toy.OPEN)


def test_a_study_of_licensed_datasets_has_no_items_at_all(results: Path) -> None:
    members = unpack(toy.again(results, open_datasets=()))
    assert not toy.names_of(members, "items/")
    sets = toy.read(members, "runs.json.gz")["sets"]
    names = {name for one in sets for name in one["names"]}
    assert not {"class:gold:up", "word:gold:PAR"} & names


def test_the_same_study_gives_the_same_bytes(results: Path, data: bytes) -> None:
    assert toy.again(results) == data


def test_its_digest_and_program_are_beside_and_in_it(results: Path, data: bytes) -> None:
    line = (results / f"{BELOW.proof('toy')}.sha256").read_text()
    assert line == f"{hashlib.sha256(data).hexdigest()}  toy.proof.zip\n"
    members = unpack(data)
    assert members["verify.py"].decode() == assembled()
    assert f"  {'verify.py'}\n" in members[SUMS].decode() and b"python verify.py" in members["README.md"]


def test_hashes_are_those_of_the_files(results: Path, data: bytes) -> None:
    runs = toy.read(unpack(data), "runs.json.gz")["runs"]
    for path, run in runs.items():
        assert run["record_sha256"] == hashlib.sha256((results / path).read_bytes()).hexdigest()
        items = (results / BELOW.contributions(path)).read_bytes()
        assert run["contributions_sha256"] == hashlib.sha256(items).hexdigest()


def change_examples(folder: Path) -> None:
    path = folder / BELOW.examples("topics", "test")
    rows = [{**json.loads(line), "document": "x"} for line in gzip.decompress(path.read_bytes()).splitlines()]
    write_jsonl_gz(path, rows)


def test_items_that_are_not_those_of_the_runs_are_left_out(results: Path, tmp_path: Path) -> None:
    """Records found on disk may be of other examples, or without predictions; they have counts and hashes."""
    shutil.copytree(results.parent, tmp_path / "copy")
    copied = tmp_path / "copy/results"
    change_examples(copied)
    (copied / BELOW.predictions(RunKey("blurb", "bert", "words", "standard"), 2)).unlink()
    found = toy.again(copied)
    runs = toy.read(unpack(found), "runs.json.gz")
    assert {one["dataset"] for one in runs["sets"] if one["gold"]} == set(toy.OPEN) - {"topics"}
    without = [path for path, run in runs["runs"].items() if "/words/" in path and not run["items"]]
    assert without == [toy.record_path("bert", "words", 2)]
    (tmp_path / "proof.zip").write_bytes(found)
    assert check_proof(str(tmp_path / "proof.zip"), 1)["runs by their items"] == 35


def test_a_record_without_its_contributions_is_refused(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results.parent, tmp_path / "copy")
    lost = tmp_path / "copy/results" / BELOW.contributions(toy.record_path("bert", "words", 2))
    write_items(lost, read_items(lost)._replace(contributions=None))
    with pytest.raises(PubmillError, match="its contributions are of another run; score it again"):
        toy.again(tmp_path / "copy/results")


def test_retracted_documents_of_open_datasets_are_named(results: Path, tmp_path: Path) -> None:
    marked = [{"pmid": "7", "marks": ["retracted"], "notices": [], "date": ""}]
    of = {"documents": 2, "found": 2, "marked": marked}
    write_json(results / "notices.json", {"datasets": {"words": of, toy.SECRET: of}})
    data = toy.again(results, notices=("notices.json",))
    assert toy.read(unpack(data), "study.json.gz")["notices"] == {"words": {"7": ["retracted"]}}
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    assert "as stated: PMID 7 of words is marked retracted" in verified(str(path), "", 1)


def put(results: Path, seed: int, digest: str = "a", values: object = None, failed: str | None = None) -> str:
    """Write a run with counts, or one that failed; return its record."""
    [path] = [one for one in toy_tables.paths("bert", "bc2gm", 9) if one.endswith(f"-{seed}.json")]
    metrics = None if failed else {"entity_f1": 0.5}
    made = toy_tables.record("bert", "bc2gm", seed, 0.5, failed=failed, metrics=metrics, counts=None)
    write_record(results / path, made)
    counts = None if values is None else Contributions(("gold", "found"), np.array(values, float))
    write_items(results / BELOW.contributions(path), Items("tokens", "document", digest * 64, counts))
    return path


def test_runs_are_read_once_and_those_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    first, failed = put(tmp_path, 1, values=[[1, 2]]), put(tmp_path, 2, failed="nan")
    runs = read_runs(tmp_path, [failed, first, "runs/none.json", first])
    assert [run.path for run in runs] == [failed, first]
    assert [run.record.failed for run in runs] == ["nan", None]
    assert [run.items.contributions is None for run in runs] == [True, False]
    [(key, of_set)] = by_test_set(runs).items()
    assert [run.path for run in of_set] == [first]
    assert (key.dataset, key.data_sha256, key.kind, key.unit, key.units) == (
        "bc2gm", "a" * 64, "tokens", "document", 1,
    )  # fmt: skip


@pytest.mark.parametrize(("failed", "values"), [("nan", [[1, 2]]), (None, None)])
def test_counts_of_another_run_are_refused(failed: str | None, values: object, tmp_path: Path) -> None:
    path = put(tmp_path, 1, values=values, failed=failed)
    with pytest.raises(PubmillError, match=f"{path}: its contributions are of another run; score it again"):
        read_runs(tmp_path, [path])


def test_runs_on_other_data_are_of_another_test_set(tmp_path: Path) -> None:
    paths = [
        put(tmp_path, seed, digest, values)
        for seed, digest, values in ((1, "a", [[1, 2]]), (2, "b", [[1, 2]]), (3, "a", [[1, 2], [3, 4]]))
    ]
    assert [len(of) for of in by_test_set(read_runs(tmp_path, paths)).values()] == [1, 1, 1]


@pytest.mark.parametrize(
    ("values", "number"),
    [([[0, 255]], "uint8"), ([[0, 256]], "uint16"), ([[0, 65_535]], "uint16"), ([[0, 65_536]], "float64"),
     ([[-1, 5]], "float64"), ([[0.5, 1]], "float64"), ([[0, 255.5]], "float64")],
)  # fmt: skip
def test_counts_have_the_smallest_type_that_holds_them(
    values: list[list[float]], number: str, tmp_path: Path
) -> None:
    runs = read_runs(tmp_path, [put(tmp_path, 1, values=values)])
    found = count_array(runs, ["found", "gold", "more"])
    assert (str(found.dtype), found.tolist()) == (number, [[[values[0][1], values[0][0], 0]]])
    assert count_names(runs) == ["found", "gold"]


def test_labels_of_counts_become_numbers() -> None:
    names = ["gold", "word:gold:B:x", "word:gold:A", "word:found:B:x"]
    assert masked_names(names) == ["gold", "word:gold:000001", "word:gold:000000", "word:found:000001"]
