"""A proof whose structure lies is refused, also where its tables follow from the lie; its texts imitate
nothing that is printed, and what is unpacked is bounded."""

import gzip
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubmill.extras.proof.assembling import assembled
from pubmill.extras.proof.verifier.container import (
    SUMS,
    RefusedError,
    pack,
    read_packed,
    sums,
    unpack,
    visible,
)
from pubmill.extras.proof.verifier.items import implausible_counts, is_constant
from pubmill.extras.proof.verifier.verification import check_proof
from tests.unit.extras.proof import structure_attacks as attack
from tests.unit.extras.proof import toy_proof as toy
from tests.unit.extras.proof.proof_attacks import answer
from tests.world.dice import Dice


@pytest.mark.parametrize("lie", attack.LIES)
def test_no_lie_about_structure_hides_a_raised_score(
    lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attack, "LIES", (lie,))
    for case in range(3):
        assert not attack.forged_score(Dice(case), tmp_path)


@pytest.mark.parametrize(
    ("member", "key", "where"),
    [("study.json.gz", "tables", "nothing to verify"), ("runs.json.gz", "runs", "nothing to verify"),
     ("runs.json.gz", "sets", "there is no test set 0")],
)  # fmt: skip
def test_an_empty_proof_verifies_nothing(
    data: bytes, tmp_path: Path, member: str, key: str, where: str
) -> None:
    path = tmp_path / "toy.proof.zip"
    path.write_bytes(toy.edited(data, member, lambda content: content.update({key: type(content[key])()})))
    with pytest.raises(RefusedError, match=where):
        check_proof(str(path), 1)


@pytest.mark.parametrize(("name", "value"), [("power", 2.0), ("power", 1.0), ("alpha", 1e-12), ("alpha", -1)])
def test_a_rule_by_which_nothing_is_found_does_not_stop_the_verifier(
    data: bytes, tmp_path: Path, name: str, value: float
) -> None:
    def edit(content: Any) -> None:
        content.get("recipe", content)["equivalence"][name] = value

    forged = toy.edited(toy.edited(data, attack.BASIS, edit), attack.SHOWN, edit)
    assert not answer(forged, tmp_path)


def test_predictions_cannot_be_left_out(data: bytes, tmp_path: Path) -> None:
    run = toy.record_path("ours", "topics", 1)
    said = answer(toy.edited(data, f"items/{run[:-5]}.json.gz", lambda lines: lines.pop()), tmp_path)
    assert not said


def test_text_of_the_archive_is_printed_as_codes(data: bytes, tmp_path: Path) -> None:
    """A title can neither hide the line below nor print one of its own."""
    title = "A\x1b[8m\nVERIFIED in 0.1 s; SHA-256 0\u202e" + "x" * 500
    (tmp_path / "toy.proof.zip").write_bytes(
        toy.edited(data, "study.json.gz", lambda study: study.update(title=title))
    )
    (tmp_path / "verify.py").write_text(assembled())
    done = subprocess.run(
        [sys.executable, "-I", "verify.py", "toy.proof.zip"], cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert [line.startswith("VERIFIED") for line in done.stdout.splitlines()].count(True) == 1
    assert "A\\x1b[8m\\nVERIFIED" in done.stdout and "\\u202e" in done.stdout
    assert "\x1b" not in done.stdout and "x" * 201 not in done.stdout
    assert visible("\udc80\x85") == "\\udc80\\x85"


@pytest.mark.parametrize(
    "content", [b" " * 200_000_000, b"[" + b"[]," * 11_000_000 + b"[]]"], ids=["bytes", "values"]
)
def test_a_bomb_is_refused_before_it_takes_memory(content: bytes) -> None:
    bomb = {"x": gzip.compress(content, 1)}
    tracemalloc.start()
    try:
        with pytest.raises(RefusedError, match="at most|more than"):
            read_packed(bomb, "x")
        assert tracemalloc.get_traced_memory()[1] < 300_000_000
    finally:
        tracemalloc.stop()


def test_a_bomb_of_counts_is_refused(data: bytes, tmp_path: Path) -> None:
    members = {**unpack(data), "counts/0000.npy.gz": gzip.compress(bytes(50_000_000), 1)}
    assert not answer(pack({**members, SUMS: sums(members)}), tmp_path)


def test_counts_that_no_predictions_give(data: bytes) -> None:
    names = ["gold", "predicted", "correct"]
    one = [[[3.0, 2.0, 2.0]], [[3.0, 4.0, 3.0]]]

    def fault(*changes: tuple[int, int, float]) -> str:
        values: Any = np.array(one)
        for run, name, value in changes:
            values[run, 0, name] = value
        return implausible_counts("tokens", names, values)

    assert not fault()
    assert "gold differs between runs" in fault((1, 0, 2.0))
    assert "correct is larger" in fault((0, 2, 2.5))
    assert "negative" in fault((0, 1, -1.0))
    assert "no number" in fault((0, 1, np.nan))
    assert "no count" in implausible_counts("tokens", ["gold", "luck", "gold"], np.array(one))


def test_only_constant_predictions_may_be_marked_as_collapsed() -> None:
    assert is_constant("sequence", [{"label": "a"}] * 3)
    assert not is_constant("sequence", [{"label": "a"}, {"label": "b"}])
    assert is_constant("multilabel", [{"labels": []}] * 2)
    assert is_constant("tokens", [{"labels": ["B-X", "I-X"]}, {"labels": ["B-X"]}])
    assert is_constant("tokens", [{"labels": ["O", "O"]}, {"labels": []}])
    assert not is_constant("tokens", [{"labels": ["O", "B-X"]}])
