"""The runs of a proof, and their counts in the smallest numbers that hold them."""

from pathlib import Path

import numpy as np
import pytest

from pubmill.errors import PubmillError
from pubmill.extras.proof.evidence import (
    by_test_set,
    count_array,
    count_names,
    masked_names,
    read_runs,
)
from pubmill.metrics.contributions import Contributions, Items, write_items
from pubmill.metrics.records import write_record
from pubmill.storage.result_paths import BELOW
from tests.unit import toy_tables


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
