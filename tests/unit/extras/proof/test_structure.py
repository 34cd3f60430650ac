"""A proof whose structure lies is refused, also where its tables follow from the lie; its texts imitate
nothing that is printed, and what is unpacked is bounded."""

import gzip
import re
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
from pubmill.extras.proof.verifier.structure import (
    check_members,
    check_recipe,
    check_runs,
    rows_of_composites,
)
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


def test_a_proof_of_one_model_has_no_tests_and_no_ranks(tmp_path: Path) -> None:
    path = tmp_path / "toy.proof.zip"
    path.write_bytes(attack.packed(attack.honest(True)))
    found = check_proof(str(path), 1)
    assert (found["cells"], found["tests"], found["rankings"]) == (8, 0, 0)


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


def change_runs(**values: Any) -> Any:
    """Return an edit of one run, of dataset `words`."""
    return lambda content: content["runs"][RUN].update(values)


def change_sets(number: int, **values: Any) -> Any:
    return lambda content: content["sets"][number].update(values)


RUN = toy.record_path("ours", "words", 2)
WORDS, SECRET = 0, 6
FAULTS: dict[str, tuple[Any, str]] = {
    "recipe": (change_runs(recipe=99), f"{RUN}: there is no recipe 99"),
    "negative recipe": (change_runs(recipe=-1), f"{RUN}: there is no recipe -1"),
    "kind": (change_sets(WORDS, kind="poem"), "counts/0000.npy.gz: of an unknown kind, or a label"),
    "label without gold": (change_sets(SECRET, negative="none"), "counts/0006.npy.gz: of an unknown kind"),
    "label of another kind": (change_sets(WORDS, negative="none"), "a label without use"),
    "recipe without a run": (lambda content: content["recipes"].append({"x": 1}), "a recipe has no run"),
    "items without gold": (
        change_sets(WORDS, gold=None), "it has predicted items, and its test set has none",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_runs_and_test_sets_that_cannot_be_are_refused(data: bytes, tmp_path: Path, name: str) -> None:
    edit, message = FAULTS[name]
    path = tmp_path / "toy.proof.zip"
    path.write_bytes(toy.edited(data, "runs.json.gz", edit))
    with pytest.raises(RefusedError, match=re.escape(message)):
        check_proof(str(path), 1)


def runs_of(data: bytes) -> Any:
    return toy.read(unpack(data), "runs.json.gz")


def test_a_failed_run_has_neither_counts_nor_a_place(data: bytes) -> None:
    content = runs_of(data)
    last = next(path for path, run in content["runs"].items() if (run["set"], run["place"]) == (WORDS, 8))
    content["runs"][last] |= {"failed": "nan", "metrics": None, "set": None, "place": None}
    check_runs(content["sets"], content["runs"], content["recipes"])
    content["runs"][last]["place"] = 8
    with pytest.raises(RefusedError, match=f"{last}: a run has either counts or the reason why it failed"):
        check_runs(content["sets"], content["runs"], content["recipes"])


def test_a_test_set_occurs_once(data: bytes) -> None:
    content = runs_of(data)
    first = content["sets"][WORDS]
    content["sets"].append({**first})
    own = [path for path, run in content["runs"].items() if run["set"] == WORDS]
    places: dict[str, tuple[int, int]] = {path: (n % 2 * 7, n // 2) for n, path in enumerate(own)}
    for path, (number, place) in places.items():
        content["runs"][path] |= {"set": number, "place": place}
    with pytest.raises(RefusedError, match="a test set occurs twice, or a recipe has no run"):
        check_runs(content["sets"], content["runs"], content["recipes"])
    content["sets"][-1]["unit"] = "other unit"
    check_runs(content["sets"], content["runs"], content["recipes"])


def test_members_are_those_that_are_named() -> None:
    check_members(["a", "b"], {"a", "b"})
    with pytest.raises(RefusedError, match=r"^b is missing \(2 such members\)$"):
        check_members(["a"], {"a", "b", "c"})
    with pytest.raises(RefusedError, match=r"^a belongs to no run and no table \(1 such members\)$"):
        check_members(["a", "b"], {"b"})


def check_rule(data: bytes, edit: Any) -> None:
    members = unpack(data)
    made = toy.read(members, attack.BASIS)["recipe"]
    edit(made)
    check_recipe(made, toy.TABLE, toy.read(members, "study.json.gz"))


@pytest.mark.parametrize(
    ("margin", "runs", "holds"),
    [(3, 5, True), (0, 5, False), (100, 5, False), (99.9, 1, True), (3, 0, False), (3, -1, False)],
)
def test_a_margin_is_between_0_and_100_points_and_runs_are_counted_from_1(
    data: bytes, margin: float, runs: int, holds: bool
) -> None:
    def edit(made: Any) -> None:
        made["equivalence"]["margins"]["words"]["points"] = margin
        made["equivalence"]["runs"]["words"] = runs

    if holds:
        check_rule(data, edit)
        return
    with pytest.raises(RefusedError, match=f"{toy.TABLE}: a margin or a number of runs cannot be"):
        check_rule(data, edit)


@pytest.mark.parametrize(
    ("alpha", "power", "holds"),
    [(0.001, 0.999, True), (0.0009, 0.8, False), (0.05, 0.9991, False), (0.5, 0.8, False), (0.05, 0.5, False),
     (0.499, 0.501, True)],
)  # fmt: skip
def test_alpha_and_power_are_limited(data: bytes, alpha: float, power: float, holds: bool) -> None:
    def edit(made: Any) -> None:
        made["equivalence"] |= {"alpha": alpha, "power": power}

    if holds:
        check_rule(data, edit)
        return
    with pytest.raises(RefusedError, match=f"{toy.TABLE}: alpha or power cannot be"):
        check_rule(data, edit)


@pytest.mark.parametrize(("part", "what"), [("rows", "row"), ("composites", "row"), ("columns", "column")])
def test_rows_and_columns_occur_once(data: bytes, part: str, what: str) -> None:
    with pytest.raises(RefusedError, match=f"{toy.TABLE}: a {what} occurs twice"):
        check_rule(data, lambda made: made[part].append(made[part][0]))


def test_a_difference_is_shown_as_a_row_with_its_own_published_names() -> None:
    composites = [{"name": "mean", "label": "Mean", "groups": {"a": ["a"]}},
                  {"name": "score", "label": "Score", "groups": {"a": ["a"], "b": ["b"]}}]  # fmt: skip
    gain = {"name": "gain", "label": "Gain", "of": "a", "minus": {}, "published": "delta", "printed": "f1"}
    found = rows_of_composites({"composites": composites, "differences": [gain]})
    shown = [(one["key"], one["metric"], one["published"], one["printed"]) for one in found]
    assert shown == [("mean", "mean", "mean", "score"), ("score", "score", "score", "score"),
                     ("gain", "difference", "delta", "f1")]  # fmt: skip
